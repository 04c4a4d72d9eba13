// The fold. Copies what a fact says into the run and decides nothing: no limit is compared here and no
// program is looked at, so a journal reads the same for ever.

import { assert } from "../base/assert.ts";
import { type Json, put } from "../base/json.ts";
import { append, emptyLog } from "../base/log.ts";
import type { Answered, Ask, Entered, Fact, Forked, ModelReply, Noted, TurnRow, Wrote } from "./facts.ts";
import {
  type ArtifactValue,
  emptyRun,
  isPerformed,
  type Message,
  noUsage,
  type OpenAsk,
  type Run,
} from "./run.ts";

export function applyTurn(run: Run, row: TurnRow): Run {
  assert(row.turn === run.turn + 1, "turns have no gaps");
  let next = beginTurn(run, row);
  for (const fact of row.facts) next = apply(next, fact, row.at);
  return { ...next, turn: row.turn };
}

/** Time passes before the facts of a turn. A fork shifts its clock itself. */
export function beginTurn(run: Run, row: TurnRow): Run {
  return row.facts[0]?.type === "forked" ? run : atTime(run, row.at);
}

export function fold(rows: Iterable<TurnRow>, from: Run = emptyRun): Run {
  let run = from;
  for (const row of rows) run = applyTurn(run, row);
  return run;
}

/** What was running while time passed counts as active. */
export function atTime(run: Run, at: number): Run {
  const now = Math.max(run.now, at);
  if (!run.started || now === run.now) return run.started ? run : { ...run, now };
  const active = run.final === null && Object.values(run.open).some(isPerformed) ? now - run.now : 0;
  return {
    ...run,
    now,
    used: active === 0 ? run.used : { ...run.used, activeMs: run.used.activeMs + active },
  };
}

export function apply(run: Run, fact: Fact, at: number = run.now): Run {
  switch (fact.type) {
    case "started": {
      const { type: _type, state, ...given } = fact;
      return { ...run, ...given, state, started: true, startedAt: run.now };
    }
    case "forked":
      return applyForked(run, fact, at);
    case "entered":
      return applyEntered(run, fact);
    case "asked":
      return applyAsked(run, fact.step, fact.ask);
    case "answered":
      return applyAnswered(run, fact);
    case "wrote":
      return { ...run, artifacts: withKey(run.artifacts, fact.artifact, written(run.artifacts, fact)) };
    case "noted":
      return applyNoted(run, fact);
    case "finished":
      return {
        ...run,
        final: fact.status,
        reason: fact.reason,
        lastText: fact.text,
        open: {},
        scheduled: null,
      };
  }
}

/** Keeps the time already spent and drops the time since; owes nobody a reply (S52). */
function applyForked(run: Run, fact: Forked, at: number): Run {
  const now = Math.max(run.now, at);
  const shift = now - run.now;
  const open: Record<number, OpenAsk> = {};
  for (const [step, one] of Object.entries(run.open)) {
    if (one.ask.kind === "reply" || one.ask.kind === "stop") continue;
    const ask: Ask = one.ask.kind === "timer" ? { ...one.ask, due: one.ask.due + shift } : one.ask;
    open[Number(step)] = { ask, hold: one.hold };
  }
  return {
    ...run,
    digest: fact.digest,
    variables: fact.variables,
    ...fact.pack,
    parent: null,
    forkedFrom: fact.from,
    now,
    startedAt: fact.resetBudget ? now : run.startedAt + shift,
    used: fact.resetBudget ? noUsage : run.used,
    open,
  };
}

function applyEntered(run: Run, fact: Entered): Run {
  return {
    ...run,
    state: fact.state,
    prompt: fact.prompt,
    visits: withKey(run.visits, fact.state, fact.visit),
    used: { ...run.used, visits: run.used.visits + 1 },
    round: 0,
    nudges: 0,
    visitCalls: 0,
    scheduled: null,
    context: fact.context,
    eventsByState: outside(fact) ? counted(run.eventsByState, run.state ?? "") : run.eventsByState,
    conversation: append(fact.fresh ? emptyLog() : run.conversation, opening(fact)),
  };
}

const outside = ({ cause }: Entered): boolean => cause.kind === "event" && cause.by !== undefined;

function opening({ cause, context, fresh }: Entered): Message {
  const from = cause.kind === "event" ? { from: cause.from, event: cause.event } : null;
  return { role: "opening", fresh, cause: from, context };
}

function applyAsked(run: Run, step: number, ask: Ask): Run {
  assert(step === run.step + 1, "steps have no gaps");
  const next: Run = { ...run, step, open: { ...run.open, [step]: { ask, hold: null } } };
  if (ask.kind === "model") {
    const key = run.state ?? run.prompt;
    return {
      ...next,
      round: ask.round,
      asksByState: withKey(run.asksByState, key, ask.nth + 1),
      used: { ...run.used, modelCalls: run.used.modelCalls + 1 },
    };
  }
  if (ask.kind !== "tool" && ask.kind !== "agent") return next;
  return {
    ...next,
    visitCalls: run.visitCalls + 1,
    callsByTool: withKey(run.callsByTool, ask.tool, ask.nth + 1),
    used: { ...run.used, toolCalls: run.used.toolCalls + 1 },
  };
}

function applyAnswered(run: Run, fact: Answered): Run {
  const answered = run.open[fact.step];
  assert(answered !== undefined, "an answer names an open step");
  const { [fact.step]: _closed, ...open } = run.open;
  const next: Run = { ...run, open };
  switch (answered.ask.kind) {
    case "model":
      return fact.outcome.ok ? modelSaid(next, fact.step, fact.outcome.value as unknown as ModelReply) : next;
    case "tool":
    case "agent":
      return said(next, resultMessage(answered.ask.call, fact));
    case "approval":
      // What is approved is asked as a call of its own; only a rejection is a result.
      return fact.outcome.ok ? next : said(next, resultMessage(answered.ask.call, fact));
    default:
      return next;
  }
}

function resultMessage(call: string, { outcome }: Answered): Message {
  return outcome.ok
    ? { role: "result", call, value: outcome.value, error: false }
    : { role: "result", call, value: `${outcome.code}: ${outcome.message}`, error: true };
}

function modelSaid(run: Run, step: number, reply: ModelReply): Run {
  const { usage } = reply;
  const { used } = run;
  return {
    ...said(run, { role: "assistant", text: reply.text, calls: reply.calls, step }),
    lastText: reply.text,
    lastUsage: usage,
    used: {
      ...used,
      inputTokens: used.inputTokens + usage.inputTokens,
      outputTokens: used.outputTokens + usage.outputTokens,
      costUsd: used.costUsd + usage.costUsd,
    },
  };
}

function applyNoted(run: Run, fact: Noted): Run {
  switch (fact.what) {
    case "result":
      return said(run, { role: "result", call: fact.call, value: fact.result, error: fact.error });
    case "scheduled":
      return { ...run, scheduled: { event: fact.event, context: fact.context } };
    case "message":
      return { ...said(run, { role: "user", text: fact.text }), round: 0, nudges: 0, visitCalls: 0 };
    case "nudge":
      return { ...said(run, { role: "user", text: fact.text }), nudges: run.nudges + 1 };
    case "handoff":
      return { ...run, lastText: fact.text };
    case "in_doubt":
    case "deferred":
    case "retried": {
      const open = run.open[fact.step];
      assert(open !== undefined, "a call on hold is open");
      const hold = fact.what === "retried" ? null : fact.what;
      return { ...run, open: { ...run.open, [fact.step]: { ...open, hold } } };
    }
    case "dedupe":
      return { ...run, dedupe: withKey(run.dedupe, fact.key, true as const) };
    case "unwritten":
      return run;
  }
}

const said = (run: Run, message: Message): Run => ({
  ...run,
  conversation: append(run.conversation, message),
});

function written(artifacts: Run["artifacts"], fact: Wrote): ArtifactValue {
  if (fact.mode === "replace") return { mode: "replace", value: fact.value };
  const before = Object.hasOwn(artifacts, fact.artifact) ? artifacts[fact.artifact] : undefined;
  let pieces = before?.mode === "append" && fact.fresh !== true ? before.pieces : emptyLog<Json>();
  // A list extends a JSON log (S34).
  const added: readonly Json[] = fact.json && Array.isArray(fact.value) ? fact.value : [fact.value];
  for (const piece of added) pieces = append(pieces, piece);
  return { mode: "append", json: fact.json, pieces };
}

const counted = (record: Readonly<Record<string, number>>, key: string): Readonly<Record<string, number>> =>
  withKey(record, key, (Object.hasOwn(record, key) ? (record[key] as number) : 0) + 1);

function withKey<T>(record: Readonly<Record<string, T>>, key: string, value: T): Readonly<Record<string, T>> {
  if (key !== "__proto__") return { ...record, [key]: value };
  const copy = { ...record };
  put(copy, key, value);
  return copy;
}
