// The rules. Reads the program, the run and one input; returns what happened. No clock, no chance, no I/O:
// the same three give the same facts, always.

import { canonical, isObject, type Json } from "../base/json.ts";
import { sha256Of } from "../base/sha256.ts";
import { apply } from "./apply.ts";
import { callProblem } from "./call-check.ts";
import { askCall } from "./calls.ts";
import { decided, ignored, refused } from "./decision.ts";
import type { ApprovalAsk, Ask, CallAsk, Fact, ModelAsk, ModelReply } from "./facts.ts";
import {
  type AnswerInput,
  type ApproveInput,
  type Decision,
  type EventInput,
  FORK,
  type HoldInput,
  type Input,
  type MessageInput,
} from "./input.ts";
import { isModelReply } from "./model-reply.ts";
import { partCallSite } from "./part-site.ts";
import { pause, unpause } from "./pause.ts";
import type { Program } from "./program.ts";
import { hasOwnWork, type OpenAsk, type Run } from "./run.ts";
import { start } from "./start.ts";
import { ofStopped } from "./stopped.ts";
import { Turn } from "./turn.ts";
import { callsAnswered, follow, hasOpenCalls, hear, modelAnsweredInPart, modelReplied } from "./visit.ts";

export function decide(program: Program, run: Run, input: Input): Decision {
  const { requestKey } = input;
  if (requestKey === undefined) return judged(program, run, input);
  if (isTaken(run, requestKey)) return ignored("this request was taken already");
  const decision = judged(program, run, input);
  if (decision.kind !== "facts") return decision;
  // Last, so that a turn still begins with what tells its input.
  const fact: Fact = { type: "noted", what: "dedupe", key: requestKey };
  return { ...decision, facts: [...decision.facts, fact], run: apply(decision.run, fact) };
}

function judged(program: Program, run: Run, input: Input): Decision {
  if (input.type === "start") return run.started ? ignored("already started") : start(program, run, input);
  if (!run.started) return refused({ code: "unknown-run", run: "" });
  switch (input.type) {
    case "answer":
      return answer(program, run, ofStopped(run, input));
    case "event":
      return event(program, run, input);
    case "message":
      return message(program, run, input);
    case "approve":
      return drifted(run, input) ?? approve(program, run, input);
    case "reject":
      return (
        drifted(run, input) ??
        onStep(program, run, input, "approval", (turn) => {
          const message = input.reason || `rejected by ${input.by}`;
          const outcome = { ok: false as const, code: "rejected", message };
          const ask = run.open[input.step]?.ask;
          turn.record({ type: "answered", step: input.step, outcome, by: input.by });
          if (ask?.kind === "approval" && !turn.overTime()) callsAnswered(turn, ask, outcome);
        })
      );
    case "sent":
      return sent(program, run, input);
    case "hold":
      return hold(program, run, input);
    case "resume":
      return resume(program, run, input);
    case "retry":
      return onStep(program, run, input, "hold", (turn) => {
        turn.record({ type: "noted", what: "retried", step: input.step, by: input.by });
      });
    case "abort":
      return onStep(program, run, input, "hold", (turn) => {
        const { step, by } = input;
        const reason = { code: "aborted", message: `step ${step} was given up by ${by}` };
        turn.finish("failed", reason, { kind: "abort", step, by });
      });
    case "cancel":
      if (run.final !== null) return ignored(`the run is ${run.final}`);
      return decided(program, run, input.at, (turn) => {
        const { by } = input;
        const reason = { code: "cancelled", message: input.reason || `cancelled by ${by}` };
        turn.finish("cancelled", reason, { kind: "cancel", by });
      });
    case "pause":
      return pause(program, run, input);
    case "unpause":
      return unpause(program, run, input);
    case "fail":
      if (run.final !== null) return ignored(`the run is ${run.final}`);
      return decided(program, run, input.at, (turn) => {
        const { by, code, message } = input;
        turn.finish("failed", { code, message }, { kind: "fail", by });
      });
  }
}

/** S49, in its order. */
function answer(program: Program, run: Run, input: AnswerInput): Decision {
  const open = run.open[input.step];
  if (open === undefined) {
    if (run.final !== null) return ignored(`the run is ${run.final}`);
    if (input.step > run.step) return refused({ code: "step-mismatch", step: input.step, last: run.step });
    return ignored("the step is answered already");
  }
  const { ask, hold: held, later } = open;
  if (!fits(ask, input)) {
    return refused({
      code: "pending-tool-mismatch",
      step: input.step,
      tool: input.tool ?? "answer",
      pending: isCall(ask) ? ask.tool : ask.kind,
    });
  }
  if (ask.kind === "timer" && input.at < ask.due) return ignored("the timer is not due");
  if (held === "deferred" && later?.question !== undefined && input.outcome.ok)
    return supply(program, run, input, input.outcome.value);
  // Said to the question, not to the call: a person's second or late answer must not become a result.
  if (held === null && later?.question !== undefined && input.by !== undefined && input.by !== FORK)
    return ignored("the question is no longer asked");
  return decided(program, run, input.at, (turn) => {
    const { step, outcome, hash, by, spent } = input;
    turn.record({
      type: "answered",
      step,
      outcome,
      ...(hash !== undefined && { hash }),
      ...(by !== undefined && { by }),
      ...(spent !== undefined && { spent }),
    });
    if (ask.kind === "reply" || ask.kind === "stop") return;
    if (turn.overTime()) return;
    if (ask.kind === "model") modelAnswered(turn, ask, input);
    else if (isCall(ask)) callAnswered(turn, { ...open, ask }, input);
    else if (ask.kind === "timer" && ask.wakes !== undefined && turn.run.open[ask.wakes]?.hold === "deferred")
      turn.record({ type: "noted", what: "resumed", step: ask.wakes });
  });
}

/** A call asked a person: what the person says is the call's input, and the call goes on. */
function supply(program: Program, run: Run, { at, step, by }: AnswerInput, value: Json): Decision {
  return decided(program, run, at, (turn) => {
    const who = by === undefined ? {} : { by };
    turn.record({ type: "noted", what: "resumed", step, input: value, ...who });
    turn.overTime();
  });
}

/** What people decide on is not answered; what a tool said is no answer for a model. */
function fits(ask: Ask, { tool, outcome, by, spent }: AnswerInput): boolean {
  if (ask.kind === "event" || ask.kind === "message" || ask.kind === "approval") return false;
  // What runs owe each other nobody pays in their place, and what was granted comes back only with a bill.
  if ((ask.kind === "reply" || ask.kind === "stop") && by !== undefined) return false;
  if (ask.kind === "stop" && ask.grant !== undefined && spent === undefined) return false;
  if (tool !== undefined && !(isCall(ask) && ask.tool === tool)) return false;
  return ask.kind !== "model" || !outcome.ok || isModelReply(outcome.value);
}

const isCall = (ask: Ask): ask is CallAsk => ask.kind === "tool" || ask.kind === "agent";

function modelAnswered(turn: Turn, ask: ModelAsk, { step, outcome }: AnswerInput): void {
  const { part } = ask;
  if (part !== undefined) return modelAnsweredInPart(turn, { ...ask, part }, { step, outcome });
  if (outcome.ok) return modelReplied(turn, { step, ask, reply: outcome.value as unknown as ModelReply });
  return turn.finish("failed", {
    code: outcome.code,
    message: outcome.message,
    ...(turn.run.state !== null && { state: turn.run.state }),
  });
}

/** S35: a result may fill an artifact; then the round goes on. */
function callAnswered(
  turn: Turn,
  open: OpenAsk & { readonly ask: CallAsk },
  { step, outcome, by, spent }: AnswerInput,
): void {
  const { ask } = open;
  const target = outcome.ok ? boundArtifact(turn.program, ask.tool) : undefined;
  if (target !== undefined && outcome.ok) {
    const value = target.path === null ? outcome.value : valueAt(outcome.value, target.path);
    const problem =
      value === undefined
        ? `the result has no ${target.path}`
        : turn.write(target.artifact, value, { kind: "tool", step, tool: ask.tool });
    if (problem !== undefined)
      turn.record({ type: "noted", what: "unwritten", artifact: target.artifact, message: problem });
  }
  // S43: somebody answered in the agent's place, who now works for nobody.
  const isBilled = by === undefined && (spent !== undefined || ask.grant === undefined);
  if (ask.kind === "agent" && by !== FORK && !isBilled) turn.stopAgent(String(step), ask);
  if (by !== undefined && by !== FORK) turn.stopRemote(String(step), open);
  callsAnswered(turn, ask, outcome);
}

function boundArtifact(
  program: Program,
  tool: string,
): { artifact: string; path: string | null } | undefined {
  const { workflow } = program;
  if (workflow === null) return undefined;
  if (Object.hasOwn(workflow.resultBindings, tool)) return workflow.resultBindings[tool];
  return Object.hasOwn(workflow.artifacts, tool) ? { artifact: tool, path: null } : undefined;
}

/** Parts of lists are written as in templates, `rows[0].id`, or as `rows.0.id`; `$` is the value itself. */
function valueAt(value: Json, path: string): Json | undefined {
  const inner = path.replaceAll(/\[(\d{1,9})\]/g, ".$1").replace(/^\$?\.?/, "");
  let current: Json | undefined = value;
  for (const part of inner === "" ? [] : inner.split(".")) {
    if (Array.isArray(current)) current = current[/^\d+$/.test(part) ? Number(part) : -1] as Json | undefined;
    else if (isObject(current) && Object.hasOwn(current, part)) current = current[part];
    else return undefined;
  }
  return current;
}

/** S26–S30: an event from outside. */
function event(program: Program, run: Run, input: EventInput): Decision {
  if (isTaken(run, input.dedupeKey)) return ignored("this event was taken already");
  if (run.final !== null) return refused({ code: "run-finished", status: run.final });
  const probe = new Turn(program, run, input.at);
  const allowed = probe.events;
  const waits =
    !hasOwnWork(run) &&
    Object.values(run.open).some(({ ask }) => ask.kind === "event" || ask.kind === "message");
  const hybrid = probe.state?.orchestration === "hybrid";
  if (!allowed.includes(input.name))
    return refused({ code: "event-not-allowed", event: input.name, allowed });
  if (!waits && !hybrid) return refused({ code: "not-waiting", state: run.state ?? "", allowed });
  for (const [artifact, value] of Object.entries(input.artifacts ?? {})) {
    const problem = probe.write(artifact, value, { kind: "outside", by: input.by });
    if (problem !== undefined) return refused({ code: "bad-artifact", artifact, message: problem });
  }
  return decided(program, run, input.at, (turn) => {
    remember(turn, input.dedupeKey);
    for (const [artifact, value] of Object.entries(input.artifacts ?? {}))
      turn.write(artifact, value, { kind: "outside", by: input.by });
    if (!turn.overTime()) follow(turn, input.name, input.context ?? "", input.by);
  });
}

const isTaken = (run: Run, key: string | undefined): boolean =>
  key !== undefined && Object.hasOwn(run.dedupe, key);

/** S30: what comes again under the same key is ignored. */
function remember(turn: Turn, key: string | undefined): void {
  if (key !== undefined) turn.record({ type: "noted", what: "dedupe", key });
}

/** S27: a message runs one model turn in a waiting state; not while results of the last turn are due. */
function message(program: Program, run: Run, input: MessageInput): Decision {
  if (isTaken(run, input.dedupeKey)) return ignored("this message was taken already");
  if (run.final !== null) return refused({ code: "run-finished", status: run.final });
  const listens = Object.values(run.open).some(({ ask }) => ask.kind === "event" || ask.kind === "message");
  const probe = new Turn(program, run, input.at);
  if (hasOwnWork(run) || !listens || hasOpenCalls(probe)) {
    return refused({ code: "not-waiting", state: run.state ?? "", allowed: probe.events });
  }
  return decided(program, run, input.at, (turn) => {
    remember(turn, input.dedupeKey);
    turn.abandon(({ ask }) => ask.kind === "event" || ask.kind === "message");
    turn.record({ type: "noted", what: "message", text: input.text, by: input.by });
    hear(turn, input.text);
  });
}

/** Other arguments than those that whoever decides has read. */
function drifted(run: Run, input: { readonly step: number; readonly sha256?: string }): Decision | undefined {
  const open = run.open[input.step];
  if (open?.ask.kind !== "approval") return undefined;
  const isOther = input.sha256 !== undefined && input.sha256 !== open.ask.sha256;
  return isOther ? refused({ code: "hash-mismatch", step: input.step, sha256: open.ask.sha256 }) : undefined;
}

/** S31: what was approved is what runs. */
function approve(program: Program, run: Run, input: ApproveInput): Decision {
  const open = run.open[input.step];
  if (open?.ask.kind === "approval") {
    const { call, tool, args } = open.ask;
    // Also what is not edited: a fork onto another pack may no longer offer the tool (S48).
    const asked = { id: call, tool, args: input.edit ?? args };
    const problem = callProblem(placeOf(program, run, open.ask), asked);
    if (problem !== undefined) return refused({ code: "bad-arguments", step: input.step, message: problem });
  }
  return onStep(program, run, input, "approval", (turn) => {
    const ask = open?.ask;
    if (ask?.kind !== "approval") return;
    const { call, tool, args, part } = ask;
    const edited = input.edit !== undefined;
    turn.record({
      type: "answered",
      step: input.step,
      outcome: { ok: true, value: edited ? "edited" : "approved" },
      by: input.by,
      ...(input.comment !== undefined && { comment: input.comment }),
    });
    if (turn.overTime()) return;
    if (edited)
      turn.ask({
        kind: "approval",
        call,
        tool,
        args: input.edit,
        sha256: sha256Of(canonical(input.edit)),
        ...(part !== undefined && { part }),
      });
    else askCall(turn, { id: call, tool, args }, { part });
  });
}

/** Where a call was made, for what may be called there. */
function placeOf(program: Program, run: Run, { part }: ApprovalAsk) {
  const { prompt } = part === undefined ? new Turn(program, run, run.now) : partCallSite(program, run, part);
  return { program, run, prompt };
}

/** S46: noted before the call leaves, so that only a call that may have left is ever in doubt. */
function sent(program: Program, run: Run, { at, step }: Extract<Input, { type: "sent" }>): Decision {
  const open = run.open[step];
  if (open === undefined || open.hold !== null || open.sent === true || !isCall(open.ask))
    return ignored("no call is to be sent there");
  if (run.held !== undefined) return ignored("the run is held");
  // What only looks how it stands does nothing outside, so it is never in doubt.
  if (open.later?.looks === true) return ignored("the call only looks how it stands");
  return decided(program, run, at, (turn) => {
    turn.record({ type: "noted", what: "sent", step });
    turn.overTime();
  });
}

/** The agent that a call waits for is at work again. */
function resume(program: Program, run: Run, { at, step }: Extract<Input, { type: "resume" }>): Decision {
  const open = run.open[step];
  if (open?.hold !== "deferred" || open.ask.kind !== "agent") return ignored("no agent is waited for there");
  return decided(program, run, at, (turn) => {
    turn.record({ type: "noted", what: "resumed", step });
    turn.overTime();
  });
}

function hold(program: Program, run: Run, input: HoldInput): Decision {
  const open = run.open[input.step];
  if (open === undefined || open.hold !== null || !isCall(open.ask))
    return ignored("no call is pending there");
  return decided(program, run, input.at, (turn) => {
    const { step, until, handle, question, looks, stoppable } = input;
    if (input.hold === "in_doubt") return turn.record({ type: "noted", what: "in_doubt", step });
    turn.record({
      type: "noted",
      what: "deferred",
      step,
      ...(handle !== undefined && { handle }),
      ...(question !== undefined && { question }),
      ...(looks === true && { looks }),
      ...(stoppable === true && { stoppable }),
      ...(until !== undefined && { wakes: true as const }),
    });
    if (until !== undefined) turn.ask({ kind: "timer", due: until, wakes: step });
    return undefined;
  });
}

/** For inputs that name a step a person decides on. */
function onStep(
  program: Program,
  run: Run,
  input: { readonly at: number; readonly step: number },
  wanted: "approval" | "hold",
  rules: (turn: Turn) => void,
): Decision {
  const open = run.open[input.step];
  if (open === undefined) {
    if (run.final !== null) return ignored(`the run is ${run.final}`);
    if (input.step > run.step) return refused({ code: "step-mismatch", step: input.step, last: run.step });
    return ignored("the step is decided already");
  }
  const fits = wanted === "approval" ? open.ask.kind === "approval" : open.hold !== null;
  if (!fits)
    return refused({ code: "pending-tool-mismatch", step: input.step, tool: wanted, pending: open.ask.kind });
  return decided(program, run, input.at, rules);
}
