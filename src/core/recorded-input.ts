// The input behind a turn, read back from its facts. Everything a rule looks at must be found in them, or a
// run could not be decided again (S53).

import { type Json, type JsonObject, put } from "../base/json.ts";
import type {
  Answered,
  Cause,
  Deferred,
  Entered,
  Fact,
  Finished,
  Forked,
  Noted,
  Started,
  TurnRow,
} from "./facts.ts";
import type { ForkInput } from "./fork.ts";
import { type EventInput, FORK, type Input, type StartInput } from "./input.ts";
import type { Program } from "./program.ts";
import type { Run } from "./run.ts";

const OVER_TIME = "max_wall_time_sec";

export type Recorded =
  | { readonly kind: "input"; readonly input: Input }
  | { readonly kind: "fork"; readonly input: ForkInput };

/** Undefined when no input known today leads to such facts. */
export function recordedInput(program: Program, run: Run, row: TurnRow): Recorded | undefined {
  const { facts } = row;
  const [first] = facts;
  if (first?.type === "forked") return { kind: "fork", input: forkInput(first, program, run, row) };
  const input =
    first?.type === "started"
      ? startInput(first, row)
      : (messageInput(row) ??
        eventInput(program, run, row) ??
        endInput(row) ??
        (first?.type === "answered" ? answerInput(first, run, row) : undefined) ??
        (first?.type === "noted" ? holdInput(first, row) : undefined));
  return input && { kind: "input", input: { ...input, ...requestKeyIn(facts) } };
}

function startInput(started: Started, { at, facts }: TurnRow): StartInput {
  const { digest, mode, prompt, variables, input, limits, parent, gated, host } = started;
  const given = Object.entries(limits).filter(([, limit]) => limit !== null);
  const entered = facts.find((fact) => fact.type === "entered");
  const end = endInput({ at, facts });
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
    ...(end?.type === "cancel" && { cancelled: { by: end.by, reason: end.reason } }),
    ...(host !== undefined && { host }),
    ...(prompt !== "" && { prompt }),
    ...(entered !== undefined && { state: entered.state }),
  };
}

function forkInput(forked: Forked, program: Program, run: Run, { at, facts }: TurnRow): ForkInput {
  const { from, digest, resetBudget, variables, pack } = forked;
  const answers = facts.flatMap(substituted);
  const ended = facts.some((fact) => fact.type === "finished" && fact.reason?.code === OVER_TIME);
  // Of what a fork may do only an event and an answer can meet the end of the time.
  const late = ended && answers.length === 0 ? anyEvent(program, run) : undefined;
  const event = outsideCause(facts)?.event ?? late;
  return {
    at,
    from,
    digest,
    resetBudget,
    variables,
    artifacts: writtenBy(facts, "fork"),
    answers,
    ...(event !== undefined && { event }),
    ...(pack !== undefined && { pack }),
  };
}

/** An answer to a call, or to what the call asked a person. */
function substituted(fact: Fact): ForkInput["answers"] {
  if (fact.type === "answered" && fact.by === FORK) return [{ step: fact.step, outcome: fact.outcome }];
  if (fact.type !== "noted" || fact.what !== "resumed" || fact.by !== FORK) return [];
  return [{ step: fact.step, outcome: { ok: true, value: fact.input ?? null } }];
}

function messageInput({ at, facts }: TurnRow): Input | undefined {
  const noted = facts.find((fact) => fact.type === "noted" && fact.what === "message");
  if (noted?.type !== "noted" || noted.what !== "message") return undefined;
  return { type: "message", at, text: noted.text, by: noted.by, ...dedupeKeyIn(facts) };
}

function eventInput(program: Program, run: Run, { at, facts }: TurnRow): EventInput | undefined {
  const cause = outsideCause(facts);
  const name = cause?.event ?? lateEvent(program, run, facts);
  if (name === undefined) return undefined;
  const entered = facts.find((fact): fact is Entered => fact.type === "entered");
  return {
    type: "event",
    at,
    name,
    by: cause?.by ?? writer(facts) ?? "",
    artifacts: writtenBy(facts, "outside"),
    ...(entered !== undefined && entered.context !== "" && { context: entered.context }),
    ...dedupeKeyIn(facts),
  };
}

/** What is said names its key first, the request that carried it last. */
function dedupeKeyIn([first]: readonly Fact[]): { readonly dedupeKey?: string } {
  return first?.type === "noted" && first.what === "dedupe" ? { dedupeKey: first.key } : {};
}

function requestKeyIn(facts: readonly Fact[]): { readonly requestKey?: string } {
  const last = facts.length > 1 ? facts.at(-1) : undefined;
  return last?.type === "noted" && last.what === "dedupe" ? { requestKey: last.key } : {};
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
  return late ? anyEvent(program, run) : undefined;
}

function anyEvent(program: Program, run: Run): string | undefined {
  const state = run.state === null ? undefined : program.workflow?.states[run.state];
  return Object.keys(state?.events ?? {})[0];
}

function endInput({ at, facts }: Pick<TurnRow, "at" | "facts">): Input | undefined {
  const finished = facts.find((fact): fact is Finished => fact.type === "finished");
  const cause = finished?.cause;
  if (cause?.kind === "cancel")
    return { type: "cancel", at, by: cause.by, reason: finished?.reason?.message ?? "" };
  if (cause?.kind === "fail") {
    const { code = "", message = "" } = finished?.reason ?? {};
    return { type: "fail", at, by: cause.by, code, message };
  }
  if (cause?.kind === "abort") return { type: "abort", at, step: cause.step, by: cause.by };
  return undefined;
}

function answerInput(fact: Answered, run: Run, { at, facts }: TurnRow): Input {
  const { step, outcome, hash, by, spent, comment } = fact;
  const asked = run.open[step]?.ask;
  if (asked?.kind !== "approval") {
    const given = {
      ...(hash !== undefined && { hash }),
      ...(by !== undefined && { by }),
      ...(spent !== undefined && { spent }),
    };
    return { type: "answer", at, step, outcome, ...given };
  }
  if (!outcome.ok) return { type: "reject", at, step, by: by ?? "", reason: outcome.message };
  // Edited arguments are in the request they led to; where the time was over there is none, and any will do.
  const again = facts.find((one) => one.type === "asked" && one.ask.kind === "approval");
  const edit = again?.type === "asked" && again.ask.kind === "approval" ? again.ask.args : asked.args;
  const said = comment === undefined ? {} : { comment };
  return { type: "approve", at, step, by: by ?? "", ...(outcome.value === "edited" && { edit }), ...said };
}

function holdInput(fact: Noted, row: TurnRow): Input | undefined {
  const { at } = row;
  switch (fact.what) {
    case "sent":
      return { type: "sent", at, step: fact.step };
    case "in_doubt":
      return { type: "hold", at, step: fact.step, hold: "in_doubt" };
    case "deferred":
      return deferredInput(fact, row);
    case "resumed":
      return fact.input === undefined ? { type: "resume", at, step: fact.step } : suppliedInput(fact, at);
    case "retried":
      return { type: "retry", at, step: fact.step, by: fact.by ?? "" };
    case "held":
      return { type: "pause", at, by: fact.by, ...(fact.reason !== undefined && { reason: fact.reason }) };
    case "unheld":
      return { type: "unpause", at, by: fact.by };
    default:
      return undefined;
  }
}

function deferredInput(fact: Deferred, { at, facts }: TurnRow): Input {
  const { step, handle, question, looks, stoppable } = fact;
  const timer = facts.find(
    (one) => one.type === "asked" && one.ask.kind === "timer" && one.ask.wakes === step,
  );
  return {
    type: "hold",
    at,
    step,
    hold: "deferred",
    ...(handle !== undefined && { handle }),
    ...(question !== undefined && { question }),
    ...(looks === true && { looks }),
    ...(stoppable === true && { stoppable }),
    ...(timer?.type === "asked" && timer.ask.kind === "timer" && { until: timer.ask.due }),
  };
}

function suppliedInput(fact: Extract<Noted, { what: "resumed" }>, at: number): Input {
  const { step, input, by } = fact;
  const outcome = { ok: true as const, value: input ?? null };
  return { type: "answer", at, step, outcome, ...(by !== undefined && { by }) };
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
