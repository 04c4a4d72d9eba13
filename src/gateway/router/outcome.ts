// What becomes of a job when its process is over: decided here in full, committed elsewhere in one
// transaction.

import type { Json, JsonObject } from "../../base/json.ts";
import { put } from "../../base/json.ts";
import type { PluginSuccess } from "../../process/plugin-protocol.ts";
import type { JobStatus, NewJob } from "../queue/job.ts";
import { type Catalog, type Drop, type Ended, resultFor, whatFollows } from "./follow.ts";

export interface JobFailure {
  readonly kind: "failed";
  readonly code: string;
  readonly message: string;
  readonly retry: boolean;
}

export type Outcome =
  | {
      readonly kind: "succeeded";
      readonly result: string | null;
      /** The plugin's whole state from now on; undefined when it stays. */
      readonly state: string | undefined;
      readonly jobs: readonly NewJob[];
      readonly dropped: readonly Drop[];
    }
  | { readonly kind: "again"; readonly code: string; readonly message: string; readonly at: number | null }
  | {
      readonly kind: "ended";
      readonly status: Extract<JobStatus, "failed" | "timed_out" | "dead">;
      readonly code: string;
      readonly message: string;
      readonly jobs: readonly NewJob[];
    };

export interface Ending extends Ended {
  /** The plugin's state as it was handed over. */
  readonly state: string;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly backoffMs: number;
}

const STATE_BYTES_MAX = 1_048_576;

export function outcomeOf(ending: Ending, verdict: PluginSuccess | JobFailure, catalog: Catalog): Outcome {
  if (verdict.kind === "failed") return failureOutcome(ending, verdict, catalog);
  const limit = (code: string, message: string): Outcome =>
    failureOutcome(ending, { kind: "failed", code, message, retry: false }, catalog);
  const state = mergedState(ending.state, verdict.stateUpdates);
  if (state !== undefined && Buffer.byteLength(state) > STATE_BYTES_MAX)
    return limit("state-too-large", `the plugin's state would have ${Buffer.byteLength(state)} bytes`);
  const following = whatFollows(ending, verdict, catalog);
  if ("code" in following) return limit(following.code, following.message);
  const { jobs, dropped } = following;
  return { kind: "succeeded", result: verdict.result ?? null, state, jobs, dropped };
}

/** Top-level keys replace, the rest stays. Undefined when nothing was said. */
export function mergedState(blob: string, updates: JsonObject): string | undefined {
  const entries = Object.entries(updates);
  if (entries.length === 0) return undefined;
  const merged = JSON.parse(blob) as Record<string, Json>;
  for (const [key, value] of entries) put(merged, key, value);
  return JSON.stringify(merged);
}

function failureOutcome(ending: Ending, failure: JobFailure, catalog: Catalog): Outcome {
  const { job, now, backoffMs, random } = ending;
  const { code, message, retry } = failure;
  if (retry && job.attempt < job.maxAttempts)
    return { kind: "again", code, message, at: now + backoff(backoffMs, job.attempt, random) };
  const told = resultFor(ending, { code: toolCode(code), message, retryable: retry }, catalog);
  const status = code === "tool_timeout" ? "timed_out" : "failed";
  return { kind: "ended", status, code, message, jobs: told === undefined ? [] : [told] };
}

/** What the gateway itself could not find is broken from the agent's point of view. */
const toolCode = (code: string): string => (code.startsWith("unknown-") ? "tool_broken" : code);

const BACKOFF_MAX_MS = 3_600_000;

/** Before the attempt after this one. */
export function backoff(baseMs: number, attempt: number, random: () => number): number {
  const delay = baseMs * 2 ** (attempt - 1) + random() * (baseMs / 4);
  return Math.min(Math.floor(delay), BACKOFF_MAX_MS);
}

/** A job that was running when its gateway died: again at once, or dead. */
export function crashOutcome(ended: Ended, catalog: Catalog): Outcome {
  const { job } = ended;
  const code = "tool_dead";
  const message = `the gateway died while attempt ${job.attempt} of \`${job.plugin}\` was running`;
  if (job.attempt + 1 <= job.maxAttempts) return { kind: "again", code, message, at: null };
  const told = resultFor(ended, { code, message, retryable: true }, catalog);
  return { kind: "ended", status: "dead", code, message, jobs: told === undefined ? [] : [told] };
}
