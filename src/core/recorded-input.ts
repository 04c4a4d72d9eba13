// The input behind a turn, read back from its facts. Everything a rule looks at must be found in them, or a
// run could not be decided again (S53).

import { type Json, type JsonObject, put } from "../base/json.ts";
import type { Answered, Cause, Entered, Fact, Finished, Noted, Started, TurnRow } from "./facts.ts";
import { FORK, type ForkInput } from "./fork.ts";
import type { EventInput, Input, StartInput } from "./input.ts";
import type { Program } from "./program.ts";
import type { Run } from "./run.ts";

export type Recorded =
  | { readonly kind: "input"; readonly input: Input }
  | { readonly kind: "fork"; readonly input: ForkInput };

/** Undefined when no input known today leads to such facts. */
export function recordedInput(program: Program, run: Run, row: TurnRow): Recorded | undefined {
  const { at, facts } = row;
  const [first] = facts;
  if (first?.type === "forked") return { kind: "fork", input: forkInput(first, row) };
  const input =
    first?.type === "started"
      ? startInput(first, row)
      : (messageInput(row) ??
        eventInput(program, run, row) ??
        endInput(row) ??
        (first?.type === "answered" ? answerInput(first, run, row) : undefined) ??
        (first?.type === "noted" ? holdInput(first, at) : undefined));
  return input && { kind: "input", input };
}

function startInput(started: Started, { at, facts }: TurnRow): StartInput {
  const { digest, mode, prompt, variables, input, limits, parent, gated } = started;
  const given = Object.entries(limits).filter(([, limit]) => limit !== null);
  const entered = facts.find((fact) => fact.type === "entered");
  return {
    type: "start",
    at,
    digest,
    mode,
    variables,
    input,
    limits: Object.fromEntries(given),
    gated,
    ...(parent !== null && { parent }),
    ...(prompt !== "" && { prompt }),
    ...(entered !== undefined && { state: entered.state }),
  };
}

function forkInput(forked: Extract<Fact, { type: "forked" }>, { at, facts }: TurnRow): ForkInput {
  const { from, digest, resetBudget, variables, pack } = forked;
  const answers = facts.filter((fact): fact is Answered => fact.type === "answered" && fact.by === FORK);
  const cause = outsideCause(facts);
  return {
    at,
    from,
    digest,
    resetBudget,
    variables,
    artifacts: writtenBy(facts, "fork"),
    answers: answers.map(({ step, outcome }) => ({ step, outcome })),
    ...(cause !== undefined && { event: cause.event }),
    ...(pack !== undefined && { pack }),
  };
}

function messageInput({ at, facts }: TurnRow): Input | undefined {
  const noted = facts.find((fact) => fact.type === "noted" && fact.what === "message");
  if (noted?.type !== "noted" || noted.what !== "message") return undefined;
  return { type: "message", at, text: noted.text, by: noted.by };
}

function eventInput(program: Program, run: Run, { at, facts }: TurnRow): EventInput | undefined {
  const cause = outsideCause(facts);
  const name = cause?.event ?? lateEvent(program, run, facts);
  if (name === undefined) return undefined;
  const entered = facts.find((fact): fact is Entered => fact.type === "entered");
  const key = facts.find((fact) => fact.type === "noted" && fact.what === "dedupe");
  return {
    type: "event",
    at,
    name,
    by: cause?.by ?? writer(facts) ?? "",
    artifacts: writtenBy(facts, "outside"),
    ...(entered !== undefined && entered.context !== "" && { context: entered.context }),
    ...(key?.type === "noted" && key.what === "dedupe" && { dedupeKey: key.key }),
  };
}

type EventCause = Extract<Cause, { kind: "event" }>;

/** The transition somebody outside asked for, whether it was made or had no visit left. */
function outsideCause(facts: readonly Fact[]): EventCause | undefined {
  for (const fact of facts) {
    const cause = fact.type === "entered" || fact.type === "finished" ? fact.cause : undefined;
    if (cause?.kind === "event" && cause.by !== undefined) return cause;
  }
  return undefined;
}

/** An event that came when the time was over ended the run, whichever of the state's events it was. */
function lateEvent(program: Program, run: Run, facts: readonly Fact[]): string | undefined {
  const late = facts.every((fact) => {
    if (fact.type === "noted") return fact.what === "dedupe";
    if (fact.type === "wrote") return fact.source.kind === "outside";
    if (fact.type === "asked") return fact.ask.kind === "reply" || fact.ask.kind === "stop";
    return fact.type === "finished" && fact.status === "budget_exhausted";
  });
  const state = run.state === null ? undefined : program.workflow?.states[run.state];
  return late ? Object.keys(state?.events ?? {})[0] : undefined;
}

function endInput({ at, facts }: TurnRow): Input | undefined {
  const finished = facts.find((fact): fact is Finished => fact.type === "finished");
  const cause = finished?.cause;
  if (cause?.kind === "cancel")
    return { type: "cancel", at, by: cause.by, reason: finished?.reason?.message ?? "" };
  if (cause?.kind === "abort") return { type: "abort", at, step: cause.step, by: cause.by };
  return undefined;
}

function answerInput(fact: Answered, run: Run, { at, facts }: TurnRow): Input {
  const { step, outcome, hash, by } = fact;
  if (run.open[step]?.ask.kind !== "approval") {
    const given = { ...(hash !== undefined && { hash }), ...(by !== undefined && { by }) };
    return { type: "answer", at, step, outcome, ...given };
  }
  if (!outcome.ok) return { type: "reject", at, step, by: by ?? "", reason: outcome.message };
  // Edited arguments are in the request they led to; where the time was over there is none.
  const again = facts.find((one) => one.type === "asked" && one.ask.kind === "approval");
  const edit = again?.type === "asked" && again.ask.kind === "approval" ? again.ask.args : null;
  return { type: "approve", at, step, by: by ?? "", ...(outcome.value === "edited" && { edit }) };
}

function holdInput(fact: Noted, at: number): Input | undefined {
  switch (fact.what) {
    case "in_doubt":
    case "deferred":
      return { type: "hold", at, step: fact.step, hold: fact.what };
    case "retried":
      return { type: "retry", at, step: fact.step, by: fact.by ?? "" };
    default:
      return undefined;
  }
}

/** As they must have been given: a text kept by a JSON artifact came in as JSON. */
function writtenBy(facts: readonly Fact[], kind: "outside" | "fork"): JsonObject {
  const artifacts: Record<string, Json> = {};
  for (const fact of facts) {
    if (fact.type !== "wrote" || fact.source.kind !== kind) continue;
    const text = fact.json && typeof fact.value === "string";
    put(artifacts, fact.artifact, text ? JSON.stringify(fact.value) : fact.value);
  }
  return artifacts;
}

function writer(facts: readonly Fact[]): string | undefined {
  for (const fact of facts)
    if (fact.type === "wrote" && fact.source.kind === "outside") return fact.source.by;
  return undefined;
}
