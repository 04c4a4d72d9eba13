// The rules. Reads the program, the run and one input; returns what happened. No clock, no chance, no I/O:
// the same three give the same facts, always.

import { canonical, isObject, type Json } from "../base/json.ts";
import { sha256Of } from "../base/sha256.ts";
import { decided, ignored, refused } from "./decision.ts";
import type { Ask, CallAsk, ModelAsk, ModelReply } from "./facts.ts";
import type { AnswerInput, ApproveInput, Decision, EventInput, Input } from "./input.ts";
import type { Program } from "./program.ts";
import { type Run, statusOf } from "./run.ts";
import { start } from "./start.ts";
import { Turn } from "./turn.ts";
import { askCall, callsAnswered, follow, hasOpenCalls, modelReplied } from "./visit.ts";

export function decide(program: Program, run: Run, input: Input): Decision {
  if (input.type === "start") return run.started ? ignored("already started") : start(program, run, input);
  if (!run.started) return refused({ code: "unknown-run", run: "" });
  switch (input.type) {
    case "answer":
      return answer(program, run, input);
    case "event":
      return event(program, run, input);
    case "message":
      return message(program, run, input);
    case "approve":
      return approve(program, run, input);
    case "reject":
      return onStep(program, run, input, "approval", (turn) => {
        const outcome = {
          ok: false as const,
          code: "rejected",
          message: input.reason || `rejected by ${input.by}`,
        };
        turn.record({ type: "answered", step: input.step, outcome, by: input.by });
        if (!turn.overTime()) callsAnswered(turn);
      });
    case "hold":
      return hold(program, run, input);
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
  const { ask } = open;
  if (!fits(ask, input)) {
    return refused({
      code: "pending-tool-mismatch",
      step: input.step,
      tool: input.tool ?? "answer",
      pending: isCall(ask) ? ask.tool : ask.kind,
    });
  }
  if (ask.kind === "timer" && input.at < ask.due) return ignored("the timer is not due");
  return decided(program, run, input.at, (turn) => {
    const { step, outcome, hash, by } = input;
    turn.record({
      type: "answered",
      step,
      outcome,
      ...(hash !== undefined && { hash }),
      ...(by !== undefined && { by }),
    });
    if (ask.kind === "reply" || ask.kind === "stop") return;
    if (turn.overTime()) return;
    if (ask.kind === "model") modelAnswered(turn, ask, input);
    else if (isCall(ask)) callAnswered(turn, ask, input);
  });
}

/** What people decide on is not answered; what a tool said is no answer for a model. */
function fits(ask: Ask, { tool, outcome }: AnswerInput): boolean {
  if (ask.kind === "event" || ask.kind === "message" || ask.kind === "approval") return false;
  if (tool !== undefined && !(isCall(ask) && ask.tool === tool)) return false;
  return ask.kind !== "model" || !outcome.ok || isModelReply(outcome.value);
}

function isModelReply(value: Json): boolean {
  if (!isObject(value) || typeof value["text"] !== "string" || !Array.isArray(value["calls"])) return false;
  const usage = value["usage"];
  const called = (value["calls"] as readonly Json[]).every(
    (call) => isObject(call) && typeof call["id"] === "string" && typeof call["tool"] === "string",
  );
  const numbers = ["inputTokens", "outputTokens", "costUsd"];
  return called && isObject(usage) && numbers.every((name) => typeof usage[name] === "number");
}

const isCall = (ask: Ask): ask is CallAsk => ask.kind === "tool" || ask.kind === "agent";

function modelAnswered(turn: Turn, ask: ModelAsk, { step, outcome }: AnswerInput): void {
  if (outcome.ok) return modelReplied(turn, { step, ask, reply: outcome.value as unknown as ModelReply });
  return turn.finish("failed", {
    code: outcome.code,
    message: outcome.message,
    ...(turn.run.state !== null && { state: turn.run.state }),
  });
}

/** S35: a result may fill an artifact; then the round goes on. */
function callAnswered(turn: Turn, ask: CallAsk, { step, outcome }: AnswerInput): void {
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
  callsAnswered(turn);
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

function valueAt(value: Json, path: string): Json | undefined {
  let current: Json | undefined = value;
  for (const part of path.replace(/^\$?\.?/, "").split(".")) {
    if (Array.isArray(current)) current = current[Number(part)] as Json | undefined;
    else if (isObject(current) && Object.hasOwn(current, part)) current = current[part];
    else return undefined;
  }
  return current;
}

/** S26–S30: an event from outside. */
function event(program: Program, run: Run, input: EventInput): Decision {
  if (input.dedupeKey !== undefined && Object.hasOwn(run.dedupe, input.dedupeKey))
    return ignored("this event was taken already");
  if (run.final !== null) return refused({ code: "run-finished", status: run.final });
  const probe = new Turn(program, run, input.at);
  const allowed = probe.events;
  const waits =
    statusOf(run) === "waiting" &&
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
    if (input.dedupeKey !== undefined) turn.record({ type: "noted", what: "dedupe", key: input.dedupeKey });
    for (const [artifact, value] of Object.entries(input.artifacts ?? {}))
      turn.write(artifact, value, { kind: "outside", by: input.by });
    if (!turn.overTime()) follow(turn, input.name, input.context ?? "", input.by);
  });
}

/** S27: a message runs one model turn in a waiting state; not while results of the last turn are due. */
function message(program: Program, run: Run, input: Extract<Input, { type: "message" }>): Decision {
  if (run.final !== null) return refused({ code: "run-finished", status: run.final });
  const listens = Object.values(run.open).some(({ ask }) => ask.kind === "event" || ask.kind === "message");
  const probe = new Turn(program, run, input.at);
  if (statusOf(run) !== "waiting" || !listens || hasOpenCalls(probe)) {
    return refused({ code: "not-waiting", state: run.state ?? "", allowed: probe.events });
  }
  return decided(program, run, input.at, (turn) => {
    turn.abandon(({ ask }) => ask.kind === "event" || ask.kind === "message");
    turn.record({ type: "noted", what: "message", text: input.text, by: input.by });
    turn.askModel(turn.prompt.roundsMax >= 1);
  });
}

/** S31: what was approved is what runs. */
function approve(program: Program, run: Run, input: ApproveInput): Decision {
  const open = run.open[input.step];
  if (open?.ask.kind === "approval" && input.sha256 !== undefined && input.sha256 !== open.ask.sha256) {
    return refused({ code: "hash-mismatch", step: input.step, sha256: open.ask.sha256 });
  }
  return onStep(program, run, input, "approval", (turn) => {
    const ask = open?.ask;
    if (ask?.kind !== "approval") return;
    const { call, tool, args } = ask;
    const edited = input.edit !== undefined;
    turn.record({
      type: "answered",
      step: input.step,
      outcome: { ok: true, value: edited ? "edited" : "approved" },
      by: input.by,
    });
    if (turn.overTime()) return;
    if (edited)
      turn.ask({
        kind: "approval",
        call,
        tool,
        args: input.edit,
        sha256: sha256Of(canonical(input.edit)),
      });
    else askCall(turn, { id: call, tool, args });
  });
}

function hold(program: Program, run: Run, input: Extract<Input, { type: "hold" }>): Decision {
  const open = run.open[input.step];
  if (open === undefined || open.hold !== null || !isCall(open.ask))
    return ignored("no call is pending there");
  return decided(program, run, input.at, (turn) => {
    turn.record({ type: "noted", what: input.hold, step: input.step });
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
