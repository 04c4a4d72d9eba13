// One thing that a run waits for, with everything that is needed to decide it, and the form that decides.
// Once it is decided a line says by whom, when and what.

import { useState } from "react";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import type { Summary } from "../../../src/core/summary.ts";
import type { InboxItem } from "../../../src/host/inbox.ts";
import { ApiError, ask, runPath } from "../api.ts";
import { textOf, wholeCut } from "../journal/cut-text.ts";
import { age, clock, visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { TextView } from "../part/text-view.tsx";
import { useAsked, useNow } from "../part/use-asked.ts";
import { runHref } from "../route.ts";
import { choicesNow } from "../theme.ts";
import { AnswerForm, DoubtForm } from "./answer-form.tsx";
import { ApprovalForm } from "./approval-form.tsx";
import { ArgumentsDiff } from "./arguments-diff.tsx";
import type { Decide } from "./decide.ts";
import { EventForm, MessageForm } from "./event-form.tsx";
import { RiskLines } from "./risk-lines.tsx";

interface CardProps {
  readonly item: InboxItem;
  /** The run that the card is shown in; its own name is left out there. */
  readonly within?: string;
  /** Takes the keys for approve and reject. */
  readonly isFirst?: boolean;
  /** It does not wait any more, and was not decided here. */
  readonly isGone?: boolean;
  readonly stale?: () => void;
}

const TITLES: Readonly<Record<InboxItem["kind"], string>> = {
  event: "Waits for an event",
  message: "Waits for a message",
  approval: "Asks to be approved",
  in_doubt: "Is in doubt",
  answer: "Waits for an answer",
};

interface Done {
  readonly text: string;
  readonly turn: number;
}

export function AskCard({ item, within, isFirst = false, isGone = false, stale }: CardProps) {
  const [decided, setDone] = useState<Done>();
  // A question whose answer did not fit is asked again, as the same step.
  const done = decided !== undefined && !isGone && item.turn > decided.turn ? undefined : decided;
  const [problem, setProblem] = useState<string>();
  const decide: Decide = async (path, body, word) => {
    setProblem(undefined);
    const { by } = choicesNow();
    const signed = by === "" ? body : { ...body, by };
    try {
      const asked = { body: signed, ifTurn: item.turn };
      const { turns } = await ask<Summary>(`${runPath(item.run)}${path}`, asked);
      setDone({ text: `${word}${by === "" ? "" : ` by ${by}`}, ${clock(Date.now())}`, turn: turns });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isStale = error.status === 409 || error.status === 412;
      setProblem(isStale ? `${error.message}. The run has moved on; look at it again.` : error.message);
      if (isStale) stale?.();
    }
  };
  const isClosed = done !== undefined || isGone;
  return (
    <article
      className={isClosed ? "card ask decided" : "card ask"}
      aria-label={`${TITLES[item.kind]}: ${visible(item.tool ?? item.state ?? item.run)}`}
    >
      <CardHead item={item} within={within} />
      {done !== undefined && (
        <p className="audit">
          ✓ {visible(done.text)}
          {item.sha256 !== undefined && <span className="mono hash"> {item.sha256.slice(0, 12)}</span>}{" "}
          <Link to={runHref(item.run, { turn: done.turn })}>turn {done.turn}</Link>
        </p>
      )}
      {done === undefined && isGone && (
        <p className="faint">It waits no longer: somebody else has decided it, or the run has moved on.</p>
      )}
      {!isClosed && <AskBody item={item} decide={decide} isFirst={isFirst} isInRun={within !== undefined} />}
      {problem !== undefined && (
        <p className="problem" role="alert">
          {visible(problem)}
        </p>
      )}
    </article>
  );
}

function CardHead({ item, within }: { readonly item: InboxItem; readonly within: string | undefined }) {
  const now = useNow();
  const isOwn = within === item.run;
  const callers = within === undefined ? item.parents : [];
  return (
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
      <p className="faint small">
        {!isOwn && (
          <>
            <Link to={runHref(item.run)} className="mono">
              {visible(item.run)}
            </Link>{" "}
            {visible(item.pack.id)} in {visible(item.state ?? "no state")},{" "}
          </>
        )}
        {age(Date.parse(item.since), now)}
        {item.requested_by !== null && `, started by ${visible(item.requested_by)}`}
        {item.expires_at !== null && `, until ${clock(Date.parse(item.expires_at))}`}
      </p>
      {callers.length > 0 && <p className="faint small">asked for {callers.map(visible).join(", then ")}</p>}
    </header>
  );
}

interface BodyProps {
  readonly item: InboxItem;
  readonly decide: Decide;
  readonly isFirst: boolean;
  readonly isInRun: boolean;
}

function AskBody({ item, decide, isFirst, isInRun }: BodyProps) {
  const { args, sha256, risk, first_args: first } = item;
  return (
    <>
      {risk !== undefined && item.kind !== "answer" && <RiskLines risk={risk} />}
      {args !== undefined && item.kind !== "answer" && (
        <Arguments args={args} of={sha256 ?? args} label={`Arguments in step ${item.step} of ${item.run}`} />
      )}
      {first !== undefined && args !== undefined && (
        <>
          <h3>Changed by a person since the model asked</h3>
          <ArgumentsDiff before={first} after={args} label={`Changes in step ${item.step} of ${item.run}`} />
        </>
      )}
      {sha256 !== undefined && (
        <p className="small faint">
          SHA-256 <span className="mono hash">{sha256}</span>
        </p>
      )}
      {!isInRun && (item.kind === "event" || item.kind === "message") && <About run={item.run} />}
      <FormOf item={item} decide={decide} isFirst={isFirst} />
    </>
  );
}

interface ArgumentsProps {
  readonly args: Json;
  readonly of: Json;
  readonly label: string;
}

function Arguments({ args, of, label }: ArgumentsProps) {
  return (
    <>
      <h3>Arguments</h3>
      <TextView text={wholeCut(args)} label={label} of={of} whole={async () => textOf(args)} />
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
          <TextView
            text={wholeCut(artifact)}
            label={`${visible(name)} of ${run}`}
            of={artifact}
            whole={async () => textOf(artifact)}
          />
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
