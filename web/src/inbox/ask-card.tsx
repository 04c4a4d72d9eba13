// One thing that a run waits for, with everything that is needed to decide it, and the form that decides.

import { useState } from "react";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Summary } from "../../../src/core/summary.ts";
import type { InboxItem } from "../../../src/host/inbox.ts";
import { ApiError, ask, runPath } from "../api.ts";
import { cutValue, textOf } from "../journal/cut-text.ts";
import { age, clock, visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { TextView } from "../part/text-view.tsx";
import { useAsked, useNow } from "../part/use-asked.ts";
import { runHref } from "../route.ts";
import { choicesNow } from "../theme.ts";
import { AnswerForm, DoubtForm } from "./answer-form.tsx";
import { ApprovalForm } from "./approval-form.tsx";
import type { Decide } from "./decide.ts";
import { EventForm, MessageForm } from "./event-form.tsx";

interface CardProps {
  readonly item: InboxItem;
  /** The turn that is shown, where it is known already. */
  readonly turn?: number;
  readonly isInRun?: boolean;
  /** Takes the keys for approve and reject. */
  readonly isFirst?: boolean;
  readonly stale?: () => void;
}

const TITLES: Readonly<Record<InboxItem["kind"], string>> = {
  event: "Waits for an event",
  message: "Waits for a message",
  approval: "Asks to be approved",
  in_doubt: "Is in doubt",
  answer: "Waits for an answer",
};

export function AskCard({ item, turn, isInRun = false, isFirst = false, stale }: CardProps) {
  const now = useNow();
  const known = useAsked<Summary>(turn === undefined ? item.run : undefined, () =>
    ask<Summary>(`${runPath(item.run)}?output=none`),
  );
  const [done, setDone] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const ifTurn = turn ?? known.value?.turns;
  const decide: Decide = async (path, body, word) => {
    setProblem(undefined);
    const { by } = choicesNow();
    const signed = by === "" ? body : { ...body, by };
    try {
      await ask(`${runPath(item.run)}${path}`, { body: signed, ...(ifTurn !== undefined && { ifTurn }) });
      setDone(`${word} ${new Date().toISOString().slice(11, 19)} UTC`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isStale = error.status === 409 || error.status === 412;
      setProblem(isStale ? `${error.message}. The run has moved on; look at it again.` : error.message);
      if (isStale) {
        known.again();
        stale?.();
      }
    }
  };
  return (
    <article
      className={done === undefined ? "card ask" : "card ask decided"}
      aria-label={`${TITLES[item.kind]}: ${item.tool ?? item.state ?? item.run}`}
    >
      <header className="ask-head">
        <h2>
          {TITLES[item.kind]}
          {item.tool !== undefined && (
            <>
              {": "}
              <code>{visible(item.tool)}</code>
            </>
          )}
        </h2>
        {!isInRun && (
          <p className="faint small">
            <Link to={runHref(item.run)} className="mono">
              {item.run}
            </Link>{" "}
            {visible(item.pack.id)} in {visible(item.state ?? "no state")}, {age(Date.parse(item.since), now)}
            {item.expires_at !== null && `, until ${clock(Date.parse(item.expires_at))}`}
          </p>
        )}
      </header>
      {done !== undefined ? (
        <p className="audit">✓ {done}</p>
      ) : (
        <AskBody item={item} decide={decide} isFirst={isFirst} isInRun={isInRun} />
      )}
      {problem !== undefined && (
        <p className="problem" role="alert">
          {visible(problem)}
        </p>
      )}
    </article>
  );
}

interface BodyProps {
  readonly item: InboxItem;
  readonly decide: Decide;
  readonly isFirst: boolean;
  readonly isInRun: boolean;
}

function AskBody({ item, decide, isFirst, isInRun }: BodyProps) {
  return (
    <>
      {item.args !== undefined && (
        <>
          <h3>Arguments</h3>
          <TextView
            text={cutValue(item.args)}
            label="Arguments"
            whole={async () => JSON.stringify(item.args, null, 2)}
          />
        </>
      )}
      {item.sha256 !== undefined && (
        <p className="small faint">
          SHA-256 <span className="mono hash">{item.sha256}</span>
        </p>
      )}
      {!isInRun && (item.kind === "event" || item.kind === "message") && <About run={item.run} />}
      <FormOf item={item} decide={decide} isFirst={isFirst} />
    </>
  );
}

/** What the run has written so far is what its question is about. */
function About({ run }: { readonly run: string }) {
  const { value } = useAsked(`${run} artifacts`, () =>
    ask<{ readonly artifacts: JsonObject }>(`${runPath(run)}/artifacts`),
  );
  const entries = Object.entries(value?.artifacts ?? {});
  if (entries.length === 0) return null;
  return (
    <div className="about">
      {entries.map(([name, artifact]) => (
        <div key={name}>
          <h3>{visible(name)}</h3>
          <TextView text={cutValue(artifact)} label={name} whole={async () => textOf(artifact)} />
        </div>
      ))}
    </div>
  );
}

function FormOf({ item, decide, isFirst }: Omit<BodyProps, "isInRun">) {
  switch (item.kind) {
    case "event":
      return <EventForm item={item} decide={decide} />;
    case "message":
      return <MessageForm decide={decide} />;
    case "approval":
      return <ApprovalForm item={item} decide={decide} takesKeys={isFirst} />;
    case "in_doubt":
      return <DoubtForm item={item} decide={decide} />;
    case "answer":
      return <AnswerForm item={item} decide={decide} />;
  }
}
