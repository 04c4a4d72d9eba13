// An answer from outside, and the ways out of doubt: a call whose end nobody knows.

import { useState } from "react";
import { get, isObject, type Json, type JsonObject } from "../../../src/base/json.ts";
import type { InboxItem } from "../../../src/host/inbox.ts";
import { wholeCut } from "../journal/cut-text.ts";
import { visible } from "../part/format.ts";
import { TextView } from "../part/text-view.tsx";
import { Confirm, Write } from "./confirm.tsx";
import type { Decide } from "./decide.ts";
import { valueIn } from "./json-field.ts";
import { SchemaForm } from "./schema-form.tsx";

interface FormProps {
  readonly item: InboxItem;
  readonly decide: Decide;
}

export function AnswerForm({ item, decide }: FormProps) {
  const { question, args } = item;
  const [text, problem] = [get(question, "text") ?? get(question, "message"), get(question, "problem")];
  return (
    <>
      {typeof text === "string" && <p className="question">{visible(text)}</p>}
      {typeof text !== "string" && (
        <TextView text={wholeCut(question ?? args)} label={`Question of ${item.run}`} />
      )}
      {typeof problem === "string" && <p className="problem">{visible(problem)}</p>}
      <SchemaForm
        schema={schemaOf(question)}
        word="Answer"
        act={(result) => decide(`/answers/${item.step}`, { result }, "answered")}
      />
    </>
  );
}

/** Choices are a schema of their own; without either anything can be said. */
function schemaOf(question: Json | undefined): JsonObject {
  const [choices, schema] = [get(question, "choices"), get(question, "schema")];
  if (Array.isArray(choices) && choices.length > 0) return { enum: choices as readonly Json[] };
  return isObject(schema) ? schema : {};
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
          <p>
            It may have been made or not: the process ended while the call was under way. Look where it works
            before you choose.
          </p>
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
