// A start event: a new run and its first turn, or the run that this start has begun before.

import { isoTime } from "../base/iso-time.ts";
import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { clip } from "../goal/clip.ts";
import { startedGoal } from "../goal/goal-run.ts";
import { derivedRunId, RUN_ID } from "../goal/goal-run-id.ts";
import type { TurnEnd } from "../goal/response.ts";
import { PROGRAM, type RunRecord, settled } from "../goal/run-record.ts";
import { activeRuns, blobBytes, TRIM_AT } from "../goal/state-blob.ts";
import type { LoopTurn } from "./loop-turn.ts";
import { performModelTurn } from "./model-turn.ts";

const GOAL_MAX = 8000;
const CONTEXT_MAX = 8000;

export interface StartProblems {
  /** What is wrong with the configuration; nothing is started with it. */
  readonly problems: readonly string[];
  readonly noTools: string | undefined;
}

export async function startRun(turn: LoopTurn, event: JsonObject, wrong: StartProblems): Promise<TurnEnd> {
  const payload = startPayload(turn, event);
  const goal = goalIn(payload);
  if (goal === undefined)
    return turn.refused(
      "goal-missing",
      `a start needs \`goal\`, a text of 1 to ${GOAL_MAX} characters`,
      final,
    );
  const runId = runIdOf(turn, event, payload);
  const known = again(turn, runId, goal);
  if (known !== undefined) return known;
  if (wrong.noTools !== undefined) return turn.refused("no-tools", wrong.noTools, final);
  if (wrong.problems.length > 0) return turn.refused("bad-config", wrong.problems.join("; "), final);
  const { activeRunsMax, tools, reframesMax } = turn.config;
  if (activeRuns(turn.blob) >= activeRunsMax)
    return turn.refused("too-many-runs", `${activeRunsMax} runs are under way already`, { retry: true });
  if (blobBytes(turn.blob) >= TRIM_AT)
    return turn.refused("state-full", "the plugin's state is nearly full", { retry: true });
  const run = newRun(turn, goal, payload);
  turn.blob.lastRunId = runId;
  const started = startedGoal({ tools, stepsMax: run.max_steps, reframesMax }, goal, turn.now);
  turn.put(runId, run);
  const said = await performModelTurn(turn, { runId, run, goal: started, result: undefined, deferred: null });
  return turn.said(said);
}

const final = { retry: false };

/** As the sender wrote it, where the host says so: a context that was merged into it is not the start's. */
function startPayload({ request }: LoopTurn, event: JsonObject): JsonObject {
  const raw = request.payload;
  const sent = raw !== undefined && get(raw, "type") === get(event, "type") ? get(raw, "payload") : undefined;
  const payload = isObject(sent) ? sent : get(event, "payload");
  return isObject(payload) ? payload : {};
}

function goalIn(payload: JsonObject): string | undefined {
  const goal = get(payload, "goal") ?? get(payload, "text");
  if (typeof goal !== "string" || goal.trim() === "") return undefined;
  return [...goal].length <= GOAL_MAX ? goal : undefined;
}

function runIdOf(turn: LoopTurn, event: JsonObject, payload: JsonObject): string {
  const given = get(payload, "run_id") ?? undefined;
  if (typeof given === "string" && RUN_ID.test(given)) return given;
  if (given !== undefined)
    turn.log("warn", "the start's `run_id` is not a name (letters, digits, `_` and `-`); another is derived");
  return derivedRunId(event, turn.request.jobId);
}

/** Delivery is at least once: the same start never begins a second run. */
function again(turn: LoopTurn, runId: string, goal: string): TurnEnd | undefined {
  const run = turn.blob.runs.get(runId);
  const message = `run ${runId} was started before`;
  if (run === undefined)
    return turn.blob.ended.has(runId) ? turn.ignored("duplicate-start", "info", message) : undefined;
  if (run.goal !== goal) return turn.refused("run-id-conflict", `run \`${runId}\` has another goal`, final);
  const { jobId } = turn.request;
  if (run.status !== "running" && run.ended_by_job === jobId) turn.emitFinal(runId);
  else if (run.status === "running" && run.pending_by_job === jobId) turn.emitRequest(runId);
  else return turn.ignored("duplicate-start", "info", message);
  return turn.said(`run ${runId}: said again what this job said before`);
}

function newRun(turn: LoopTurn, goal: string, payload: JsonObject): RunRecord {
  const { stepsMax, reframesMax, attemptsMax } = turn.config;
  const context = get(payload, "context");
  const wanted = get(context, "max_steps");
  const fewer = typeof wanted === "number" && Number.isInteger(wanted) && wanted >= 1 ? wanted : stepsMax;
  return {
    program: PROGRAM,
    status: "running",
    goal,
    created_at: isoTime(turn.now),
    updated_at: isoTime(turn.now),
    ...{ turn: 0, step: 0, max_steps: Math.min(fewer, stepsMax) },
    ...{ reframes: 0, max_reframes: reframesMax, done_refusals: 0 },
    phase: "frame",
    ...settled,
    ...{ attempt: 1, max_attempts: attemptsMax },
    ...{ completed_steps: [], failed_steps: [] },
    workspace_ref: turn.workspaceRef,
    context: contextText(context),
    ...{ frame: null, plan: null, memory: "", evidence: [], artifacts: [] },
    ...{ model_tries: 0, retry_after: null, deferred_result: null, ended_by_job: null, final: null },
  };
}

function contextText(context: Json | undefined): string {
  if (!isObject(context) || Object.keys(context).length === 0) return "";
  const lines = Object.entries(context).map(([key, value]) => {
    return `- ${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  return clip(lines.join("\n"), CONTEXT_MAX);
}
