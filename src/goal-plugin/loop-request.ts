// One request of a host, as far as the plugin reads it. Fields it does not know are ignored; those that are
// missing have their usual meaning.

import { resolve } from "node:path";
import { get, isObject, type Json, type JsonObject } from "../base/json.ts";

export interface LoopRequest {
  readonly jobId: string;
  readonly command: string;
  readonly config: JsonObject;
  readonly state: JsonObject;
  readonly context: JsonObject | undefined;
  /** Absolute: some hosts send it relative to where they were started. */
  readonly workspaceDir: string | undefined;
  /** The job's payload before anything was merged into it; not every host sends it. */
  readonly payload: JsonObject | undefined;
  readonly event: JsonObject | undefined;
  /** Milliseconds since 1970. */
  readonly deadlineAt: number | undefined;
}

/** Undefined: not a request of protocol 2. */
export function readRequest(text: string, cwd: string): LoopRequest | undefined {
  const value = parsed(text);
  if (!isObject(value) || get(value, "protocol") !== 2) return undefined;
  const command = get(value, "command");
  if (typeof command !== "string") return undefined;
  const jobId = get(value, "job_id");
  const folder = get(value, "workspace_dir");
  const deadline = get(value, "deadline_at");
  const at = typeof deadline === "string" ? Date.parse(deadline) : Number.NaN;
  return {
    jobId: typeof jobId === "string" ? jobId : "",
    command,
    config: objectAt(value, "config") ?? {},
    state: objectAt(value, "state") ?? {},
    context: objectAt(value, "context"),
    workspaceDir: typeof folder === "string" && folder !== "" ? resolve(cwd, folder) : undefined,
    payload: objectAt(value, "payload"),
    event: objectAt(value, "event"),
    deadlineAt: Number.isNaN(at) ? undefined : at,
  };
}

const objectAt = (value: JsonObject, key: string): JsonObject | undefined => {
  const found = get(value, key);
  return isObject(found) ? found : undefined;
};

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
