// One run as the blob keeps it. The names are those of the wire: RFC-103's fields keep theirs, and what a
// newer version added is carried along unread.

import { isoTime } from "../base/iso-time.ts";
import { get, isObject, type Json, type JsonObject } from "../base/json.ts";

export interface RunRecord {
  readonly program: string;
  readonly status: "running" | "done" | "escalated";
  readonly goal: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Turns of the model so far: where a script stands. */
  readonly turn: number;
  /** Tool actions so far. */
  readonly step: number;
  readonly max_steps: number;
  readonly reframes: number;
  readonly max_reframes: number;
  readonly done_refusals: number;
  readonly phase: "frame" | "waiting" | "reflect" | "ended";
  readonly pending_step: number | null;
  readonly pending_tool: string | null;
  readonly pending_since: string | null;
  readonly pending_deadline: string | null;
  readonly attempt: number;
  readonly max_attempts: number;
  /** Null in a run that was begun by code which did not keep it. */
  readonly pending_input: JsonObject | null;
  readonly pending_blanked: readonly string[];
  readonly pending_by_job: string | null;
  readonly expect: string | null;
  readonly completed_steps: readonly number[];
  readonly failed_steps: readonly number[];
  readonly workspace_ref: string;
  /** What the start event brought beside the goal, as the prompt shows it. */
  readonly context: string;
  readonly frame: JsonObject | null;
  readonly plan: JsonObject | null;
  readonly memory: string;
  readonly evidence: readonly JsonObject[];
  readonly artifacts: readonly string[];
  readonly model_tries: number;
  readonly retry_after: string | null;
  readonly deferred_result: JsonObject | null;
  readonly ended_by_job: string | null;
  /** Payload of the final event. */
  readonly final: JsonObject | null;
}

export const PROGRAM = "agentic-loop/1";

/** Nothing is pending. */
export const settled = {
  pending_step: null,
  pending_tool: null,
  pending_since: null,
  pending_deadline: null,
  pending_input: null,
  pending_blanked: [],
  pending_by_job: null,
  expect: null,
} as const;

export interface RecordDefaults {
  readonly now: number;
  readonly stepsMax: number;
  readonly reframesMax: number;
  readonly attemptsMax: number;
  readonly toolDeadlineMs: (tool: string) => number;
  readonly workspaceRef: string;
}

/** Steps below the pending one count as completed without being listed. */
const COMPLETED_MAX = 10_000;

/** Also a run of RFC-103's time, which has only the RFC's keys; what else there is stays. */
export function readRecord(value: JsonObject, defaults: RecordDefaults): RunRecord {
  const reader = new Fields(value);
  const now = isoTime(defaults.now);
  const status = reader.oneOf("status", ["running", "done", "escalated"]);
  const pendingTool = reader.textOrNull("pending_tool");
  const pendingStep = reader.countOrNull("pending_step");
  const step = reader.count("step", pendingStep ?? 0);
  const isPending = status === "running" && pendingStep !== null && pendingTool !== null;
  const done = isPending ? pendingStep - 1 : step;
  return {
    ...value,
    program: reader.text("program", PROGRAM),
    status,
    goal: reader.text("goal", ""),
    created_at: reader.text("created_at", now),
    updated_at: reader.text("updated_at", now),
    turn: reader.count("turn", pendingStep ?? step),
    step,
    max_steps: reader.count("max_steps", defaults.stepsMax),
    reframes: reader.count("reframes", 0),
    max_reframes: reader.count("max_reframes", defaults.reframesMax),
    done_refusals: reader.count("done_refusals", 0),
    phase: phaseOf(get(value, "phase"), { status, isPending, step }),
    pending_step: isPending ? pendingStep : null,
    pending_tool: isPending ? pendingTool : null,
    pending_since: isPending ? reader.text("pending_since", now) : null,
    pending_deadline: isPending
      ? reader.text("pending_deadline", isoTime(defaults.now + defaults.toolDeadlineMs(pendingTool)))
      : null,
    attempt: reader.count("attempt", 1),
    max_attempts: reader.count("max_attempts", defaults.attemptsMax),
    pending_input: reader.objectOrNull("pending_input"),
    pending_blanked: reader.list("pending_blanked", isText),
    pending_by_job: reader.textOrNull("pending_by_job"),
    expect: reader.textOrNull("expect"),
    completed_steps: reader.has("completed_steps")
      ? reader.list("completed_steps", isCount)
      : Array.from({ length: Math.min(done, COMPLETED_MAX) }, (_, index) => index + 1),
    failed_steps: reader.list("failed_steps", isCount),
    workspace_ref: reader.text("workspace_ref", defaults.workspaceRef),
    context: reader.text("context", ""),
    frame: reader.objectOrNull("frame"),
    plan: reader.objectOrNull("plan"),
    memory: reader.text("memory", ""),
    evidence: reader.list("evidence", isObject),
    artifacts: reader.list("artifacts", isText),
    model_tries: reader.count("model_tries", 0),
    retry_after: reader.textOrNull("retry_after"),
    deferred_result: reader.objectOrNull("deferred_result"),
    ended_by_job: reader.textOrNull("ended_by_job"),
    final: reader.objectOrNull("final"),
  };
}

function phaseOf(
  value: Json | undefined,
  { status, isPending, step }: { status: string; isPending: boolean; step: number },
): RunRecord["phase"] {
  if (status !== "running") return "ended";
  if (isPending) return "waiting";
  return value === "frame" || step === 0 ? "frame" : "reflect";
}

const isText = (value: Json): value is string => typeof value === "string";
const isCount = (value: Json): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

class Fields {
  readonly #value: JsonObject;

  constructor(value: JsonObject) {
    this.#value = value;
  }

  has(key: string): boolean {
    return Array.isArray(get(this.#value, key));
  }

  text(key: string, usual: string): string {
    return this.textOrNull(key) ?? usual;
  }

  textOrNull(key: string): string | null {
    const value = get(this.#value, key);
    return typeof value === "string" ? value : null;
  }

  count(key: string, usual: number): number {
    return this.countOrNull(key) ?? usual;
  }

  countOrNull(key: string): number | null {
    const value = get(this.#value, key);
    return value !== undefined && isCount(value) ? value : null;
  }

  objectOrNull(key: string): JsonObject | null {
    const value = get(this.#value, key);
    return isObject(value) ? value : null;
  }

  list<T extends Json>(key: string, fits: (value: Json) => value is T): readonly T[] {
    const value = get(this.#value, key);
    return Array.isArray(value) ? (value as readonly Json[]).filter(fits) : [];
  }

  oneOf<T extends string>(key: string, names: readonly [T, ...T[]]): T {
    const value = get(this.#value, key);
    return names.find((name) => name === value) ?? names[0];
  }
}
