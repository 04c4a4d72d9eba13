// The fold. Copies what a fact says into the run and decides nothing: no limit is compared here and no
// program is looked at, so a journal reads the same for ever. A run is copied once, however many facts
// follow: whoever folds holds a draft, of which only the fields are changed, never what they refer to.

import { assert } from "../base/assert.ts";
import { deepEqual, type Json, put } from "../base/json.ts";
import { append, emptyLog } from "../base/log.ts";
import { withKeyGone, withKeySet } from "../base/sparse.ts";
import type { Answered, Ask, Entered, Fact, Forked, ModelReply, Noted, TurnRow, Wrote } from "./facts.ts";
import { newComposing, partAsked, partGuarded, partHeard, takePart } from "./part-fold.ts";
import { asText } from "./reference.ts";
import {
  type ArtifactValue,
  askerOf,
  type CalledAgent,
  emptyRun,
  isAtWork,
  type Message,
  noUsage,
  type OpenAsk,
  type Run,
  spentTogether,
} from "./run.ts";

/** A run in the making. */
export type Draft = { -readonly [Field in keyof Run]: Run[Field] };

export const draftOf = (run: Run): Draft => ({ ...run });

export function applyTurn(run: Run, row: TurnRow): Run {
  return fold([row], run);
}

export function fold(rows: Iterable<TurnRow>, from: Run = emptyRun): Run {
  const draft = draftOf(from);
  for (const row of rows) {
    beginTurn(draft, row);
    for (const fact of row.facts) take(draft, fact, row.at);
  }
  return draft;
}

export function apply(run: Run, fact: Fact, at: number = run.now): Run {
  const draft = draftOf(run);
  take(draft, fact, at);
  return draft;
}

/** Time passes before the facts of a turn. A fork shifts its clock itself. */
export function beginTurn(draft: Draft, row: TurnRow): void {
  assert(row.turn === draft.turn + 1, "turns have no gaps");
  draft.turn = row.turn;
  if (row.facts[0]?.type !== "forked") passTime(draft, row.at);
}

/** What was running while time passed counts as active. */
export function passTime(draft: Draft, at: number): void {
  const passed = at - draft.now;
  if (passed <= 0) return;
  draft.now = at;
  if (draft.started && draft.final === null && isAtWork(draft))
    draft.used = { ...draft.used, activeMs: draft.used.activeMs + passed };
}

export function take(draft: Draft, fact: Fact, at: number = draft.now): void {
  switch (fact.type) {
    case "started": {
      const { type: _type, ...given } = fact;
      Object.assign(draft, given, { started: true, startedAt: draft.now });
      return;
    }
    case "forked":
      return takeForked(draft, fact, at);
    case "entered":
      return takeEntered(draft, fact);
    case "asked":
      return takeAsked(draft, fact.step, fact.ask);
    case "answered":
      return takeAnswered(draft, fact);
    case "wrote":
      draft.artifacts = withKey(draft.artifacts, fact.artifact, written(draft.artifacts, fact));
      return;
    case "noted":
      return takeNoted(draft, fact);
    case "finished":
      draft.final = fact.status;
      draft.reason = fact.reason;
      draft.lastText = fact.text;
      draft.open = {};
      draft.scheduled = null;
      delete draft.held;
      delete draft.stalled;
  }
}

/** Keeps the time already spent and drops the time since; owes nobody a reply (S52). */
function takeForked(draft: Draft, fact: Forked, at: number): void {
  const now = Math.max(draft.now, at);
  const shift = now - draft.now;
  const open: Record<number, OpenAsk> = {};
  for (const [step, one] of Object.entries(draft.open)) {
    if (one.ask.kind === "reply" || one.ask.kind === "stop") continue;
    const ask: Ask = one.ask.kind === "timer" ? { ...one.ask, due: one.ask.due + shift } : one.ask;
    // No call has left under the fork's name, and the agent that waits for somebody is the origin's.
    const { sent: _sent, ...kept } = one;
    const hold = one.ask.kind === "agent" ? null : one.hold;
    open[Number(step)] = { ...kept, hold, ask, ...(kept.later && { later: notOurs(kept.later) }) };
  }
  Object.assign(draft, fact.pack);
  draft.digest = fact.digest;
  // A composition that was given the variables goes on with those of the fork.
  if (draft.composing !== undefined && deepEqual(draft.composing.input, draft.variables))
    draft.composing = { ...draft.composing, input: fact.variables };
  draft.variables = fact.variables;
  draft.parent = null;
  draft.forkedFrom = fact.from;
  draft.now = now;
  draft.startedAt = fact.resetBudget ? now : draft.startedAt + shift;
  if (fact.resetBudget) draft.used = noUsage;
  if (fact.resetBudget) delete draft.usedByAgents;
  draft.open = open;
  if (draft.agentCalls !== undefined)
    draft.agentCalls = draft.agentCalls.map((call) =>
      call.by !== undefined || open[call.step] !== undefined ? call : { ...call, by: fact.from.run },
    );
}

function takeEntered(draft: Draft, fact: Entered): void {
  if (outside(fact)) draft.eventsByState = counted(draft.eventsByState, draft.state ?? "");
  draft.state = fact.state;
  draft.prompt = fact.prompt;
  draft.visits = withKey(draft.visits, fact.state, fact.visit);
  draft.used = { ...draft.used, visits: draft.used.visits + 1 };
  beginRounds(draft);
  draft.scheduled = null;
  delete draft.composing;
  delete draft.stalled;
  draft.context = fact.context;
  draft.conversation = append(fact.fresh ? emptyLog() : draft.conversation, opening(fact));
}

function beginRounds(draft: Draft): void {
  draft.round = 0;
  draft.nudges = 0;
  draft.visitCalls = 0;
}

const outside = ({ cause }: Entered): boolean => cause.kind === "event" && cause.by !== undefined;

function opening({ cause, context, fresh }: Entered): Message {
  const from = cause.kind === "event" ? { from: cause.from, event: cause.event } : null;
  return { role: "opening", fresh, cause: from, context };
}

function takeAsked(draft: Draft, step: number, ask: Ask): void {
  assert(step === draft.step + 1, "steps have no gaps");
  draft.step = step;
  draft.open = withKeySet(draft.open, step, { ask, hold: null });
  if (ask.kind === "model") {
    unstall(draft, ask.part);
    if (ask.part === undefined) draft.round = ask.round;
    else draft.composing = partAsked(draft.composing, ask.part, ask);
    draft.asksByState = withKey(draft.asksByState, askerOf(draft, ask.part), ask.nth + 1);
    draft.used = { ...draft.used, modelCalls: draft.used.modelCalls + 1 };
  } else if (ask.kind === "tool" || ask.kind === "agent") {
    draft.visitCalls++;
    if (ask.part !== undefined) draft.composing = partAsked(draft.composing, ask.part, {});
    draft.callsByTool = withKey(draft.callsByTool, ask.tool, ask.nth + 1);
    if (ask.kind === "agent")
      draft.agentCalls = [...(draft.agentCalls ?? []), calledAgent(draft, step, ask.tool)];
    draft.used = { ...draft.used, toolCalls: draft.used.toolCalls + 1 };
  }
}

function unstall(draft: Draft, part: string | undefined): void {
  if (draft.stalled === undefined) return;
  const left = draft.stalled.filter((one) => one.part !== part);
  if (left.length > 0) draft.stalled = left;
  else delete draft.stalled;
}

function calledAgent({ state, visits }: Draft, step: number, agent: string): CalledAgent {
  const visit = state === null || !Object.hasOwn(visits, state) ? 1 : (visits[state] as number);
  return { step, agent, state, visit };
}

function takeAnswered(draft: Draft, fact: Answered): void {
  const answered = draft.open[fact.step];
  assert(answered !== undefined, "an answer names an open step");
  draft.open = withKeyGone(draft.open, fact.step);
  const { ask } = answered;
  if (ask.kind === "model") {
    if (fact.outcome.ok) modelSaid(draft, fact.step, fact.outcome.value as unknown as ModelReply, ask.part);
  } else if (ask.kind === "tool" || ask.kind === "agent") {
    say(draft, resultMessage(ask.call, fact), ask.part);
  } else if (ask.kind === "approval" && !fact.outcome.ok) {
    // What is approved is asked as a call of its own; only a rejection is a result.
    say(draft, resultMessage(ask.call, fact), ask.part);
  }
  if (fact.spent !== undefined)
    draft.usedByAgents =
      draft.usedByAgents === undefined ? fact.spent : spentTogether(draft.usedByAgents, fact.spent);
}

function resultMessage(call: string, { outcome }: Answered): Message {
  return outcome.ok
    ? { role: "result", call, value: outcome.value, error: false }
    : { role: "result", call, value: `${outcome.code}: ${outcome.message}`, error: true };
}

function modelSaid(draft: Draft, step: number, reply: ModelReply, part: string | undefined): void {
  const { used } = draft;
  const { text, calls, usage, extra } = reply;
  say(draft, { role: "assistant", text, calls, step, ...(extra !== undefined && { extra }) }, part);
  if (part === undefined) draft.lastText = text;
  draft.lastUsage = usage;
  draft.used = {
    ...used,
    inputTokens: used.inputTokens + usage.inputTokens,
    outputTokens: used.outputTokens + usage.outputTokens,
    costUsd: used.costUsd + usage.costUsd,
  };
}

/** What goes on elsewhere was begun by the origin: a fork may look at it, and never ends it. */
function notOurs({ stoppable: _stoppable, ...later }: NonNullable<OpenAsk["later"]>): OpenAsk["later"] & {} {
  return later;
}

function takeNoted(draft: Draft, fact: Noted): void {
  switch (fact.what) {
    case "result":
      return say(
        draft,
        { role: "result", call: fact.call, value: fact.result, error: fact.error },
        fact.part,
      );
    case "composing":
      draft.composing = newComposing(fact.composition, fact.input);
      return;
    case "part":
      draft.composing = takePart(draft.composing, fact);
      return;
    case "composed":
      return takeComposed(draft, fact.output);
    case "scheduled":
      draft.scheduled = { event: fact.event, context: fact.context };
      return;
    case "message":
      say(draft, { role: "user", text: fact.text });
      return beginRounds(draft);
    case "nudge":
      say(draft, { role: "user", text: fact.text });
      draft.nudges++;
      return;
    case "handoff":
      draft.lastText = fact.text;
      return;
    case "sent":
    case "in_doubt":
    case "deferred":
    case "retried":
    case "resumed": {
      const open = draft.open[fact.step];
      assert(open !== undefined, "a noted call is open");
      draft.open = withKeySet(draft.open, fact.step, movedOn(open, fact));
      return;
    }
    case "held": {
      const { by, reason } = fact;
      draft.held = { by, since: draft.now, ...(reason !== undefined && { reason }) };
      return;
    }
    case "unheld":
      delete draft.held;
      return;
    case "stalled": {
      const { type: _type, what: _what, ...stalled } = fact;
      draft.stalled = [...(draft.stalled ?? []), stalled];
      return;
    }
    case "dedupe":
      draft.dedupe = withKey(draft.dedupe, fact.key, true as const);
      return;
    case "traced": {
      const { type: _type, what: _what, ...trace } = fact;
      draft.trace = trace;
      return;
    }
    case "guarded":
      return takeGuarded(draft, fact);
    case "unwritten":
  }
}

/** Of an answer only what is left of it is ever shown; a refused input is answered in the model's place. */
function takeGuarded(draft: Draft, fact: Extract<Noted, { readonly what: "guarded" }>): void {
  const { direction, text, part } = fact;
  if (part !== undefined) {
    if (direction === "input") return say(draft, saidFor(draft, text), part);
    draft.composing = partGuarded(draft.composing, part, text);
    return;
  }
  draft.lastText = text;
  if (direction === "input") return say(draft, saidFor(draft, text));
  const { length, cells } = draft.conversation;
  const last = cells[length - 1];
  assert(last?.role === "assistant", "a validator judges the answer that came last");
  draft.conversation = append({ length: length - 1, cells }, { ...last, text });
}

const saidFor = ({ step }: Draft, text: string): Message => ({ role: "assistant", text, calls: [], step });

/** What a composition came to is what its state said. */
function takeComposed(draft: Draft, output: Json): void {
  assert(draft.composing !== undefined, "what is over has begun");
  const text = asText(output);
  draft.composing = { ...draft.composing, output };
  draft.lastText = text;
  say(draft, saidFor(draft, text));
}

type CallNote = Extract<Noted, { readonly step: number }>;

function movedOn(open: OpenAsk, fact: CallNote): OpenAsk {
  switch (fact.what) {
    case "sent":
      return { ...open, sent: true };
    case "in_doubt":
      return { ...open, hold: "in_doubt" };
    case "retried":
      return calledAgain(open, {});
    case "deferred": {
      const { type: _type, what: _what, step: _step, ...later } = fact;
      const { later: _before, ...kept } = open;
      return { ...kept, hold: "deferred", ...(Object.keys(later).length > 0 && { later }) };
    }
    case "resumed":
      return calledAgain(open, fact.input === undefined ? {} : { input: fact.input });
  }
}

/**
 * Nothing wakes a call that is made again, and it has not left yet: who took the run up would put it in
 * doubt.
 * Its question stays, so that late answers to it are known.
 */
function calledAgain({ later, sent: _sent, ...open }: OpenAsk, given: { readonly input?: Json }): OpenAsk {
  if (later === undefined) return { ...open, hold: null };
  const { wakes: _wakes, ...kept } = later;
  return { ...open, hold: null, later: { ...kept, ...given } };
}

/** In a part of a composition only that part hears it. */
function say(draft: Draft, message: Message, part?: string): void {
  if (part === undefined) draft.conversation = append(draft.conversation, message);
  else draft.composing = partHeard(draft.composing, part, message);
}

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
