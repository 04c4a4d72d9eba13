// An answer from outside, and the ways out of doubt: a call whose end nobody knows.

import { useState } from "react";
import { isObject } from "../../../src/base/json.ts";
import type { InboxItem } from "../../../src/host/inbox.ts";
import { cutValue } from "../journal/cut-text.ts";
import { TextView } from "../part/text-view.tsx";
import { Confirm, Write } from "./approval-form.tsx";
import type { Decide } from "./decide.ts";
import { valueIn } from "./json-field.ts";

interface FormProps {
  readonly item: InboxItem;
  readonly decide: Decide;
}

export function AnswerForm({ item, decide }: FormProps) {
  const { question } = item;
  const text =
    isObject(question) && typeof question["message"] === "string" ? question["message"] : undefined;
  return (
    <>
      {text !== undefined && <p className="question">{text}</p>}
      {question !== undefined && text === undefined && (
        <TextView text={cutValue(question)} label="Question" />
      )}
      <Write
        label="Answer, as text or JSON"
        word="Answer"
        act={(given) => decide(`/answers/${item.step}`, { result: valueIn(given) }, "answered")}
      />
    </>
  );
}

type Way = "choose" | "retry" | "result" | "abort";

export function DoubtForm({ item, decide }: FormProps) {
  const [way, setWay] = useState<Way>("choose");
  const path = `/answers/${item.step}`;
  const back = (): void => setWay("choose");
  switch (way) {
    case "choose":
      return (
        <>
          <p>It may have been made or not: the process ended while the call was under way.</p>
          <div className="actions">
            <button type="button" className="button" onClick={() => setWay("retry")}>
              Make the call again
            </button>
            <button type="button" className="button" onClick={() => setWay("result")}>
              Supply the result
            </button>
            <button type="button" className="button danger" onClick={() => setWay("abort")}>
              Abort the run
            </button>
          </div>
        </>
      );
    case "retry":
      return (
        <Confirm
          text="Make the call a second time?"
          word="Make it again"
          act={() => decide(path, { retry: true }, "is made again")}
          back={back}
        />
      );
    case "abort":
      return (
        <Confirm
          text="End the run here?"
          word="Abort"
          act={() => decide(path, { abort: true }, "aborted")}
          back={back}
        />
      );
    case "result":
      return (
        <Write
          label="Result, as text or JSON"
          word="Supply"
          act={(given) => decide(path, { result: valueIn(given) }, "result supplied")}
          back={back}
        />
      );
  }
}
