// The part of a turn in which the model speaks: one structured answer, repaired at most twice, then judged by
// code. If none comes the result is kept and the ask stays open for `poll`.

import { must } from "../base/assert.ts";
import { isoTime } from "../base/iso-time.ts";
import { get, type Json, type JsonObject } from "../base/json.ts";
import { firstTurnSchema, resumeTurnSchema } from "../goal/answer-schema.ts";
import { lastLines } from "../goal/clip.ts";
import { REFUSALS_MAX } from "../goal/completion-gate.ts";
import { type GoalPrompt, goalPrompt, repairText, type ShownResult } from "../goal/goal-prompt.ts";
import { answeredModel, escalationOf, type GoalRun, openCall } from "../goal/goal-run.ts";
import { type Answer, criteriaOf, type Reflection, type Report } from "../goal/read-answer.ts";
import type { RunRecord } from "../goal/run-record.ts";
import { KIB, textBytes } from "../goal/state-size.ts";
import { blankedKeys } from "../goal/tool-request.ts";
import { traceOf } from "../goal/trace-lines.ts";
import { type Judged, judgeAnswer } from "./judge-answer.ts";
import type { ModelAnswer } from "./loop-model.ts";
import type { LoopTurn } from "./loop-turn.ts";
import { writeRunFiles } from "./run-files.ts";

export interface ModelTurn {
  readonly runId: string;
  /** As the run stands with the result in it; the model's part is added here. */
  readonly run: RunRecord;
  readonly goal: GoalRun;
  /** Undefined in a run's first turn. */
  readonly result: ShownResult | undefined;
  /** Kept when the model is out of reach. */
  readonly deferred: JsonObject | null;
}

const REPAIRS_MAX = 2;

export async function performModelTurn(turn: LoopTurn, given: ModelTurn): Promise<string> {
  const { runId, goal } = given;
  let run = given.run;
  let told: readonly string[] = [];
  let judged: Judged | undefined;
  for (let repairs = 0; repairs <= REPAIRS_MAX; repairs++) {
    const heard = await ask(turn, { ...given, run }, { repairs, told });
    if (heard.kind === "unavailable") {
      const { nextTurn = run.turn, message } = heard;
      return defer(turn, { ...given, run: { ...run, turn: nextTurn } }, message);
    }
    judged = judgeAnswer(turn, { runId, run, first: given.result === undefined, value: heard.value });
    if (judged.kind === "good")
      return conclude(turn, { ...given, run: { ...run, turn: heard.nextTurn } }, judged.answer);
    if (judged.kind === "unsupported") run = withRefusal(run, judged.problems);
    if (judged.kind === "spent" || run.done_refusals >= REFUSALS_MAX) break;
    told = judged.problems;
  }
  turn.put(runId, { ...run, turn: run.turn + 1 });
  const { reason, problems } = must(judged, "an answer was judged");
  turn.escalate(runId, goal, { reason, message: problems.join("; ").slice(0, MESSAGE_MAX) });
  return `run ${runId} escalated (${reason})`;
}

const MESSAGE_MAX = 500;

function withRefusal(run: RunRecord, problems: readonly string[]): RunRecord {
  const focus = problems.join("; ").slice(0, 300);
  const plan = run.plan === null ? null : { ...run.plan, next_focus: focus };
  return { ...run, plan, done_refusals: run.done_refusals + 1 };
}

function ask(
  turn: LoopTurn,
  { runId, run, result }: ModelTurn,
  { repairs, told }: { repairs: number; told: readonly string[] },
): Promise<ModelAnswer> {
  const { config, request } = turn;
  const prompt = goalPrompt({ run, config, result, jobId: request.jobId });
  const schema = (result === undefined ? firstTurnSchema : resumeTurnSchema)(config.tools);
  return turn.model({
    prompt: repairs === 0 ? prompt : repaired(prompt, told),
    schema,
    runId,
    turn: run.turn,
    repairs,
    timeMs: turn.modelMs,
  });
}

const repaired = ({ system, user }: GoalPrompt, told: readonly string[]): GoalPrompt => ({
  system,
  user: `${user}\n\n${repairText(told)}`,
});

const RETRY_MS = 30_000;
const RETRY_MAX_MS = 600_000;

/** The result must not be lost: the answer is `ok`, and `poll` asks the model again. */
function defer(turn: LoopTurn, { runId, run, goal, deferred }: ModelTurn, why: string): string {
  const { model_tries: tries } = run;
  const tried = turn.put(runId, { ...run, model_tries: tries + 1, deferred_result: deferred });
  turn.log("warn", `the model did not answer: ${why}`);
  if (tries >= turn.config.modelTriesMax) {
    const message = `the model did not answer in ${tries + 1} turns`;
    turn.escalate(runId, goal, { reason: "model_unavailable", message });
    return `run ${runId} escalated (model_unavailable)`;
  }
  const pause = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(tries, 10));
  turn.put(runId, { ...tried, retry_after: isoTime(turn.now + pause) });
  turn.trace(runId, tried, [
    ...traceOf(goal.facts, run.step),
    { fact: "deferred", rest: { tries: tries + 1 } },
  ]);
  files(turn, runId, { run: tried, memory: null });
  return `run ${runId} waits for the model`;
}

function conclude(turn: LoopTurn, given: ModelTurn, answer: Answer): string {
  const { runId } = given;
  const goal = answeredModel(given.goal, answer, turn.now);
  const memory = memoryLine(given.run, answer.reflect);
  const noted = withNotes(given.run, answer, memory);
  turn.put(runId, noted);
  const call = openCall(goal.run);
  if (call !== undefined) {
    request(
      turn,
      { ...given, run: noted, goal },
      { tool: call.tool, args: call.args as JsonObject, memory, answer },
    );
    return `run ${runId} step ${noted.step + 1}: ${call.tool} requested`;
  }
  files(turn, runId, { run: noted, memory });
  if (goal.run.final === "completed") {
    complete(
      turn,
      { ...given, run: noted, goal },
      must(answer.reflect?.success_report, "a completed run has a report"),
    );
    return `run ${runId} completed`;
  }
  const escalation = escalationOf(goal.run);
  turn.escalate(runId, goal, escalation);
  return `run ${runId} escalated (${escalation.reason})`;
}

function request(
  turn: LoopTurn,
  { runId, run, goal }: ModelTurn,
  next: { tool: string; args: JsonObject; memory: string | null; answer: Answer },
): void {
  const { tool, args, memory, answer } = next;
  const step = run.step + 1;
  const pending: RunRecord = {
    ...run,
    ...{ phase: "waiting", step, attempt: 1 },
    ...{ pending_step: step, pending_tool: tool, pending_since: turn.at },
    pending_deadline: isoTime(turn.now + turn.config.toolDeadlineMs(tool)),
    ...{ pending_input: args, pending_blanked: blankedKeys(turn.request.context, args) },
    ...{ pending_by_job: turn.request.jobId, expect: answer.action?.expect ?? null },
  };
  turn.put(runId, pending);
  turn.trace(runId, pending, traceOf(goal.facts, run.step));
  files(turn, runId, { run: pending, memory });
  turn.emitRequest(runId);
}

function complete(turn: LoopTurn, { runId, run, goal }: ModelTurn, report: Report): void {
  turn.trace(runId, run, traceOf(goal.facts, run.step));
  const workspace = turn.workspaceOf(runId);
  const last = run.artifacts.at(-1);
  const filled = last !== undefined && (workspace?.isFile(last) ?? true) ? [last] : [];
  const evidenceOf = (id: string) => report.criteria.find((one) => one.id === id)?.evidence ?? [];
  const final: JsonObject = {
    run_id: runId,
    goal: run.goal,
    outcome: report.summary,
    steps_taken: run.step,
    artifacts: report.artifacts.length > 0 ? report.artifacts : filled,
    criteria: criteriaOf(run.frame).map(({ id, text }) => ({ id, text, evidence: evidenceOf(id) })),
  };
  turn.end(runId, { status: "done", final });
}

const EVIDENCE_MAX = 32;
const MEMORY_MAX = 8 * KIB;

function withNotes(run: RunRecord, answer: Answer, memory: string | null): RunRecord {
  const { reflect, plan } = answer;
  const frame = answer.frame ?? reflect?.reframe?.frame ?? run.frame;
  const all = memory === null ? run.memory : run.memory === "" ? memory : `${run.memory}\n${memory}`;
  const evidence = [...run.evidence, ...(reflect?.evidence ?? [])];
  const held = reflect?.reframe ? evidence.filter((one) => isHeld(run.frame, frame, one)) : evidence;
  return {
    ...run,
    frame,
    plan: plan ?? run.plan,
    reframes: run.reframes + (reflect?.reframe ? 1 : 0),
    memory: lastLines(all, (text) => textBytes(text) <= MEMORY_MAX),
    evidence: held.slice(-EVIDENCE_MAX),
    ...{ model_tries: 0, retry_after: null, deferred_result: null, expect: null },
  };
}

/** Ids begin anew with a frame: evidence stays only for a criterion that says what it said. */
function isHeld(before: JsonObject | null, after: JsonObject | null, evidence: JsonObject): boolean {
  const id: Json | undefined = get(evidence, "criterion");
  const textIn = (frame: JsonObject | null) => criteriaOf(frame).find((one) => one.id === id)?.text;
  return textIn(after) !== undefined && textIn(after) === textIn(before);
}

function memoryLine(run: RunRecord, reflect: Reflection | null): string | null {
  const update = reflect?.memory_update?.replace(/\s+/g, " ").trim() ?? "";
  return update === "" ? null : `- [step ${run.step}] ${update}`;
}

function files(
  turn: LoopTurn,
  runId: string,
  { run, memory }: { run: RunRecord; memory: string | null },
): void {
  const workspace = turn.workspaceOf(runId);
  if (workspace !== undefined) writeRunFiles(workspace, run, { tools: turn.config.tools, memory });
}
