// One invocation of the plugin: what was asked, the runs as they stand, and what will be printed. Nothing is
// durable until it is printed, so everything here may be lost at any moment.

import { basename, dirname, resolve } from "node:path";
import { must } from "../base/assert.ts";
import { isoTime } from "../base/iso-time.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { failedGoal, type GoalRun, restoredGoal } from "../goal/goal-run.ts";
import type { IgnoredCode } from "../goal/judge-result.ts";
import type { LoopConfig } from "../goal/loop-config.ts";
import type { LogLine, TurnEnd } from "../goal/response.ts";
import { type RunRecord, settled } from "../goal/run-record.ts";
import {
  type Blob,
  blobBytes,
  blobUpdates,
  ESCALATE_AT,
  largestRunning,
  prune,
  TRIM_AT,
  trimNotes,
} from "../goal/state-blob.ts";
import { stateBytes } from "../goal/state-size.ts";
import { type AgentEvent, finalEvent, toolRequest } from "../goal/tool-request.ts";
import { type TraceLine, traceOf } from "../goal/trace-lines.ts";
import type { LoopModel } from "./loop-model.ts";
import type { LoopRequest } from "./loop-request.ts";
import { Workspace } from "./workspace.ts";

export interface TurnOptions {
  readonly request: LoopRequest;
  readonly config: LoopConfig;
  readonly blob: Blob;
  readonly model: LoopModel;
  readonly clock: () => number;
  readonly cwd: string;
}

export interface Escalation {
  readonly reason: string;
  readonly message: string;
  readonly details?: JsonObject;
}

/** For a host that says no time, or one that is over before the job begins: its clock is not ours. */
const MODEL_MS = 100_000;

/** Response and blob together; hosts allow more, by different measures. */
const DOCUMENT_MAX = 1_040_000;
const TRACE_MAX = 1024 * 1024;

export class LoopTurn {
  readonly request: LoopRequest;
  readonly config: LoopConfig;
  readonly blob: Blob;
  readonly model: LoopModel;
  readonly now: number;
  readonly at: string;
  readonly #clock: () => number;
  readonly #cwd: string;
  readonly #deadline: number;
  readonly #logs: LogLine[] = [];
  readonly #events: { readonly runId: string; readonly event: AgentEvent }[] = [];
  readonly #workspaces = new Map<string, Workspace>();
  #changed = false;

  constructor({ request, config, blob, model, clock, cwd }: TurnOptions) {
    this.request = request;
    this.config = config;
    this.blob = blob;
    this.model = model;
    this.#clock = clock;
    this.#cwd = cwd;
    this.now = clock();
    this.at = isoTime(this.now);
    const { deadlineAt = 0 } = request;
    this.#deadline = deadlineAt > this.now ? deadlineAt : Number.POSITIVE_INFINITY;
  }

  log(level: LogLine["level"], message: string): void {
    this.#logs.push({ level, message });
  }

  /** Time for the model: what is left without the reserve. */
  get modelMs(): number {
    return Math.min(MODEL_MS, this.#deadline - this.config.turnReserveMs - this.#clock());
  }

  /** Undefined on a host without files. */
  workspaceOf(runId: string): Workspace | undefined {
    const { workspaceRoot } = this.config;
    const { workspaceDir } = this.request;
    const root = workspaceRoot === undefined ? workspaceDir : resolve(this.#cwd, workspaceRoot, runId);
    if (root === undefined) return undefined;
    let workspace = this.#workspaces.get(root);
    if (workspace === undefined) {
      const mayWrite = () => this.#clock() < this.#deadline;
      workspace = new Workspace({ root, mayWrite, warn: (message) => this.log("warn", message) });
      this.#workspaces.set(root, workspace);
    }
    return workspace;
  }

  /** How tools on the run's way find its folder again. */
  get workspaceRef(): string {
    const { workspaceDir, jobId } = this.request;
    if (this.config.workspaceRoot !== undefined) return "run";
    const shared = workspaceDir !== undefined && basename(dirname(workspaceDir)) === "workspaces";
    return `job:${shared ? basename(workspaceDir) : jobId}`;
  }

  goalOf(run: RunRecord): GoalRun {
    const { tools } = this.config;
    return restoredGoal({ tools, stepsMax: run.max_steps, reframesMax: run.max_reframes }, run, this.now);
  }

  put(runId: string, run: RunRecord): RunRecord {
    const put = { ...run, updated_at: this.at };
    this.blob.runs.set(runId, put);
    this.#changed = true;
    return put;
  }

  /** Something beside the runs has changed. */
  touch(): void {
    this.#changed = true;
  }

  /** The pending request; what is no longer allowed does not leave, whenever it was decided. */
  emitRequest(runId: string): void {
    const run = must(this.blob.runs.get(runId), "a run that requests is there");
    const tool = must(run.pending_tool, "a run that requests has a tool");
    if (!this.config.tools.includes(tool)) {
      const message = `\`${tool}\` is no longer a tool of this agent`;
      return this.escalate(runId, this.goalOf(run), { reason: "tool_not_allowed", message });
    }
    this.#events.push({ runId, event: toolRequest(runId, run) });
  }

  emitFinal(runId: string): void {
    const run = must(this.blob.runs.get(runId), "a run that ended is there");
    this.#events.push({ runId, event: finalEvent(runId, run) });
  }

  /** Ends a run for a reason of this shell; the core finishes it as failed. */
  escalate(runId: string, goal: GoalRun, given: Escalation): void {
    const ended = goal.run.final === null ? failedGoal(goal, given.reason, given.message, this.now) : goal;
    const run = must(this.blob.runs.get(runId), "a run that is escalated is there");
    this.trace(runId, run, traceOf(ended.facts, run.step));
    const { reason, message, details = {} } = given;
    const final: JsonObject = {
      run_id: runId,
      goal: run.goal,
      reason,
      message,
      step: run.pending_step ?? run.step,
      steps_taken: run.step,
      artifacts: run.artifacts,
      details,
    };
    this.end(runId, { status: "escalated", final });
    this.log("warn", `${reason}: run ${runId}: ${message}`);
  }

  /** Slims the run to what is asked for later, and says the one final event. */
  end(runId: string, { status, final }: { status: "done" | "escalated"; final: JsonObject }): void {
    const run = must(this.blob.runs.get(runId), "a run that ends is there");
    this.put(runId, {
      ...run,
      ...settled,
      ...{ status, final, phase: "ended", ended_by_job: this.request.jobId },
      ...{ frame: null, plan: null, memory: "", evidence: [], context: "" },
      ...{ deferred_result: null, retry_after: null },
    });
    this.emitFinal(runId);
  }

  trace(runId: string, run: RunRecord, lines: readonly TraceLine[]): void {
    const { at, request } = this;
    const text = lines.map(({ fact, rest }) =>
      JSON.stringify({ at, job: request.jobId, run: runId, turn: run.turn, fact, ...rest }),
    );
    if (text.length > 0) this.workspaceOf(runId)?.append("trace.jsonl", `${text.join("\n")}\n`, TRACE_MAX);
  }

  ignored(code: IgnoredCode, level: "info" | "warn", message: string): TurnEnd {
    this.log(level, `${code}: ${message}`);
    return this.said(`ignored (${code})`);
  }

  refused(code: string, message: string, { retry }: { retry: boolean }): TurnEnd {
    return { status: "error", code, message, retry, logs: this.#logs };
  }

  said(result: string): TurnEnd {
    if (this.#changed) this.#fit();
    return {
      status: "ok",
      result,
      events: this.#events.map(({ event }) => event),
      stateUpdates: this.#changed ? blobUpdates(this.blob) : undefined,
      logs: this.#logs,
    };
  }

  /** Within what hosts allow: ended runs go first, then notes, then the largest run. */
  #fit(): void {
    const { keepTerminalRuns: keep, terminalTtlMs: ttlMs } = this.config;
    const { blob, now } = this;
    let bytes = prune(blob, { now, keep, ttlMs });
    if (bytes >= TRIM_AT) trimNotes(blob);
    for (;;) {
      if (bytes >= TRIM_AT) bytes = blobBytes(blob);
      const said = stateBytes(this.#events.map(({ event }) => event) as unknown as Json);
      const isOver = bytes >= ESCALATE_AT || bytes + said >= DOCUMENT_MAX;
      const largest = isOver ? largestRunning(blob) : undefined;
      if (largest === undefined) return;
      const run = must(blob.runs.get(largest), "the largest run is there");
      this.#withdraw(largest);
      this.escalate(largest, this.goalOf(run), {
        reason: "state_full",
        message: "the plugin's state is full",
      });
    }
  }

  /** A request of a run that ends in the same response does not leave. */
  #withdraw(runId: string): void {
    const kept = this.#events.filter((one) => one.runId !== runId);
    this.#events.splice(0, this.#events.length, ...kept);
  }
}
