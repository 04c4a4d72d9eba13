// One request of a host, as far as the plugin reads it. Fields it does not know are ignored; those that are
// missing have their usual meaning.

import { resolve } from "node:path";
import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { isDeeperThan } from "../base/json-depth.ts";
import { shallow } from "../goal/shallow.ts";

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

/** Of what tools say. The state may hold it inside an input, which is why more is read there. */
const DEPTH_MAX = 200;
const STATE_DEPTH_MAX = 1_000;

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
  const isDeep = isDeeperThan(text, DEPTH_MAX);
  const objectAt = (key: string, most = DEPTH_MAX): JsonObject | undefined => {
    const found = get(value, key);
    if (!isObject(found)) return undefined;
    return isDeep ? (shallow(found, most) as JsonObject) : found;
  };
  return {
    jobId: typeof jobId === "string" ? jobId : "",
    command,
    config: objectAt("config", STATE_DEPTH_MAX) ?? {},
    state: objectAt("state", STATE_DEPTH_MAX) ?? {},
    context: objectAt("context"),
    workspaceDir: typeof folder === "string" && folder !== "" ? resolve(cwd, folder) : undefined,
    payload: objectAt("payload"),
    event: objectAt("event"),
    deadlineAt: Number.isNaN(at) ? undefined : at,
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
