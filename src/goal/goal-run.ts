// A run of the plugin as the core knows it. The blob holds the folded run in the words of the wire; here it
// is unfolded, moved on by `decide`, and read back. The one structured answer of a turn answers the model
// asks of all states it passes through.

import { assert, must } from "../base/assert.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { decide } from "../core/decide.ts";
import type { Ask, CallAsk, Fact, ModelReply, Outcome, ToolCall } from "../core/facts.ts";
import type { Input } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import { SET_ARTIFACT, TRANSITION } from "../core/reserved.ts";
import { emptyRun, noUsage, type OpenAsk, type Run } from "../core/run.ts";
import { linkPack } from "../pack/link.ts";
import type { PackFile } from "../pack/shape/generated/pack-file.ts";
import { isAtGate } from "./goal-gate.ts";
import { GATE, type GoalTerms, goalPack } from "./goal-pack.ts";
import { AGENT } from "./loop-config.ts";
import type { Answer } from "./read-answer.ts";
import { PROGRAM, type RunRecord } from "./run-record.ts";

/** One run while a turn moves it on. */
export interface GoalRun {
  readonly program: Program;
  readonly run: Run;
  /** What this turn has decided. */
  readonly facts: readonly Fact[];
}

const programOf = (terms: GoalTerms): Program => linkPack(goalPack(terms) as unknown as PackFile);

export function startedGoal(terms: GoalTerms, goal: string, at: number): GoalRun {
  const program = programOf(terms);
  const input = {
    type: "start",
    at,
    digest: PROGRAM,
    mode: "autonomous",
    variables: { goal },
    input: goal,
  } as const;
  return moved({ program, run: emptyRun, facts: [] }, input);
}

/** Where the record stands. Steps of the core are counted anew in every process; the wire has its own. */
export function restoredGoal(terms: GoalTerms, record: RunRecord, at: number): GoalRun {
  const program = programOf(terms);
  const state = record.phase === "waiting" ? "act" : record.phase === "reflect" ? "reflect" : "frame";
  const run: Run = {
    ...emptyRun,
    started: true,
    now: at,
    startedAt: at,
    digest: PROGRAM,
    variables: { goal: record.goal },
    input: record.goal,
    state,
    prompt: state,
    visits: { frame: 1 + record.reframes, act: record.step },
    used: { ...noUsage, visits: record.turn, modelCalls: record.turn, toolCalls: record.step },
    round: 1,
    step: 1,
    open: { 1: opened(record) },
    scheduled: record.phase === "waiting" ? { event: "Acted", context: "" } : null,
  };
  return { program, run, facts: [] };
}

function opened(record: RunRecord): OpenAsk {
  const { pending_tool: tool, pending_input: args, phase } = record;
  const ask: Ask =
    phase === "waiting"
      ? { kind: "tool", call: "action", tool: tool ?? "", args: args ?? {}, nth: 0 }
      : { kind: "model", round: 1, nth: 0, tools: true };
  return { ask, hold: null };
}

export const answeredTool = (goal: GoalRun, outcome: Outcome, at: number): GoalRun =>
  moved(goal, { type: "answer", at, step: openStep(goal.run, "tool"), outcome });

/** A rule of the shell ends the run (S49). */
export const failedGoal = (goal: GoalRun, code: string, message: string, at: number): GoalRun =>
  moved(goal, { type: "fail", at, by: AGENT, code, message });

/** Frame, plan and act, or reflect and what follows it: each state is answered with its part. */
const STATES_MAX = 4;

/** A claim to be done was judged before its answer came here: the gate is open to it. */
export function answeredModel(goal: GoalRun, answer: Answer, at: number): GoalRun {
  let current = goal;
  for (let states = 0; isAsking(current.run); states++) {
    assert(states < STATES_MAX, "a turn passes every state at most once");
    const reply: ModelReply = {
      text: "",
      calls: callsOf(current.run.state ?? "", answer),
      usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    };
    const step = openStep(current.run, "model");
    current = moved(current, {
      type: "answer",
      at,
      step,
      outcome: { ok: true, value: reply as unknown as Json },
    });
  }
  return isAtGate(current.run) ? moved(current, { type: "event", at, name: "Granted", by: GATE }) : current;
}

const isAsking = ({ open, final }: Run): boolean =>
  final === null && Object.values(open).some(({ ask }) => ask.kind === "model");

function openStep({ open }: Run, kind: Ask["kind"]): number {
  const found = Object.entries(open).find(([, one]) => one.ask.kind === kind);
  return Number(must(found, `an ask of kind ${kind} is open`)[0]);
}

/** The call that the run waits for, if any. */
export function openCall({ open }: Run): CallAsk | undefined {
  for (const { ask } of Object.values(open)) if (ask.kind === "tool") return ask;
  return undefined;
}

function callsOf(state: string, answer: Answer): readonly ToolCall[] {
  const { reflect, plan, action } = answer;
  switch (state) {
    case "frame":
      return [artifact("frame", answer.frame ?? reflect?.reframe?.frame ?? {}), transition("Framed")];
    case "plan":
      return [artifact("plan", plan ?? {}), transition("Planned")];
    case "act": {
      const { tool, input } = must(action, "an answer that leads to `act` has an action");
      return [{ id: "action", tool, args: input }, transition("Acted")];
    }
    default:
      return reflectCalls(must(reflect, "an answer to `reflect` reflects"));
  }
}

function reflectCalls(reflect: NonNullable<Answer["reflect"]>): readonly ToolCall[] {
  const { memory_update: memory, success_report: report, next_stage: stage, reframe, observation } = reflect;
  const events = { plan: "Plan", act: "Act", done: "Done" } as const;
  return [
    ...(memory === null ? [] : [artifact("memory", memory)]),
    ...(report === null ? [] : [artifact("report", report as unknown as JsonObject)]),
    transition(reframe === null ? events[stage] : "Reframe", observation),
  ];
}

const artifact = (name: string, value: Json): ToolCall => ({
  id: `set_${name}`,
  tool: SET_ARTIFACT,
  args: { name, value },
});

const transition = (event: string, context = ""): ToolCall => ({
  id: `go_${event}`,
  tool: TRANSITION,
  args: { event, context },
});

function moved({ program, run, facts }: GoalRun, input: Input): GoalRun {
  const decision = decide(program, run, input);
  assert(decision.kind === "facts", `the core takes \`${input.type}\` of its own shell`);
  return { program, run: decision.run, facts: [...facts, ...decision.facts] };
}

/** Why a run ended that was not completed, in the words of the wire. */
export function escalationOf({ reason }: Run): { readonly reason: string; readonly message: string } {
  if (reason?.limit === "max_visits" && reason.state === "act")
    return { reason: "max_steps_exceeded", message: `all ${reason.value} tool actions are spent` };
  if (reason?.limit === "max_visits" && reason.state === "frame") {
    const message = `the goal was framed anew more than ${Number(reason.value) - 1} times`;
    return { reason: "max_reframes_exceeded", message };
  }
  return { reason: reason?.code ?? "model_output_invalid", message: reason?.message ?? "the run ended" };
}
