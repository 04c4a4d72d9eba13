// Protocol v2 of plugins: one request on stdin, one response on stdout. The shapes, and how the end of a
// plugin's process is judged. The document decides, not the exit code; only 78 says that trying again is no
// use.

import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { isDeeperThan } from "../base/json-depth.ts";
import type { ProgramEnd } from "./run-program.ts";

export interface PluginRequest {
  readonly protocol: 2;
  /** Stable over repetitions of the same job. */
  readonly job_id: string;
  readonly command: string;
  readonly config: JsonObject;
  readonly state: JsonObject;
  readonly context?: JsonObject;
  readonly workspace_dir: string;
  readonly payload: JsonObject;
  /** With `handle` only. */
  readonly event?: JsonObject;
  readonly deadline_at: string;
}

export interface PluginEvent {
  readonly type: string;
  readonly payload: JsonObject;
  readonly dedupe_key?: string;
  readonly event_id?: string;
}

export interface PluginLog {
  readonly level: string;
  readonly message: string;
}

export interface PluginSuccess {
  readonly kind: "ok";
  /** One line for people. */
  readonly result: string | undefined;
  readonly events: readonly PluginEvent[];
  readonly stateUpdates: JsonObject;
  readonly logs: readonly PluginLog[];
}

export interface PluginFailure {
  readonly kind: "failed";
  readonly code: "tool_failed" | "tool_broken" | "tool_timeout" | "stdout-too-large" | "bad-event";
  readonly message: string;
  readonly retry: boolean;
  readonly logs: readonly PluginLog[];
}

export const STDOUT_MAX = 10 * 1024 * 1024;

/** A plugin that says so will say the same next time. */
const EXIT_CONFIG = 78;

const MESSAGE_MAX = 500;

/** What came of one run of a plugin. */
export function judgePlugin(end: ProgramEnd): PluginSuccess | PluginFailure {
  if (end.kind === "not-started")
    return failed("tool_broken", `it cannot be started: ${end.reason}`, end.isExecutable);
  if (end.kind === "timeout") return failed("tool_timeout", "it did not answer in time", true);
  if (end.kind === "too-large")
    return failed("stdout-too-large", `it wrote more than ${STDOUT_MAX} bytes`, false);
  const final = end.code === EXIT_CONFIG;
  const read = readResponse(end.stdout.toString("utf8"));
  if (typeof read === "string") {
    const tail = end.stderr.trim().slice(-MESSAGE_MAX);
    return failed("tool_broken", `${read} (exit code ${end.code})${tail === "" ? "" : `: ${tail}`}`, !final);
  }
  return read.kind === "failed" && final ? { ...read, retry: false } : read;
}

const failed = (code: PluginFailure["code"], message: string, retry: boolean): PluginFailure => ({
  kind: "failed",
  code,
  message: message.slice(0, MESSAGE_MAX * 2),
  retry,
  logs: [],
});

/** A text says why the document is none. Unknown keys are ignored; types are not. */
function readResponse(text: string): PluginSuccess | PluginFailure | string {
  const document = parsed(text);
  if (!isObject(document)) return "it did not answer with one JSON object";
  const wrong = wrongField(document);
  if (wrong !== undefined) return `\`${wrong}\` of its answer is wrong`;
  const logs = (get(document, "logs") ?? []) as unknown as readonly PluginLog[];
  if (get(document, "status") === "error") {
    const message = String(get(document, "error")).slice(0, MESSAGE_MAX);
    return { kind: "failed", code: "tool_failed", message, retry: get(document, "retry") !== false, logs };
  }
  const events = (get(document, "events") ?? []) as readonly Json[];
  const bad = events.findIndex((event) => !isEvent(event));
  if (bad !== -1)
    return { ...failed("bad-event", `event ${bad + 1} of its answer is not an event`, false), logs };
  const result = get(document, "result");
  return {
    kind: "ok",
    result: typeof result === "string" && result.trim() !== "" ? result : undefined,
    events: events as unknown as readonly PluginEvent[],
    stateUpdates: (get(document, "state_updates") ?? {}) as JsonObject,
    logs,
  };
}

const DEPTH_MAX = 200;

function parsed(text: string): Json | undefined {
  if (isDeeperThan(text, DEPTH_MAX)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isText = (value: Json): boolean => typeof value === "string";
const isLog = (value: Json): boolean =>
  typeof get(value, "message") === "string" && typeof get(value, "level") === "string";

const FIELDS: readonly (readonly [string, (value: Json) => boolean])[] = [
  ["result", isText],
  ["error", isText],
  ["retry", (value) => typeof value === "boolean"],
  ["events", Array.isArray],
  ["state_updates", isObject],
  ["logs", (value) => Array.isArray(value) && value.every(isLog)],
];

function wrongField(document: JsonObject): string | undefined {
  const status = get(document, "status");
  if (status !== "ok" && status !== "error") return "status";
  if (status === "error" && !get(document, "error")) return "error";
  for (const [name, isRight] of FIELDS) {
    const value = get(document, name);
    if (value !== undefined && value !== null && !isRight(value)) return name;
  }
  return undefined;
}

const isEvent = (event: Json): boolean => {
  const type = get(event, "type");
  const isOptionalText = (name: string) =>
    ["string", "undefined"].includes(typeof (get(event, name) ?? undefined));
  return (
    typeof type === "string" &&
    /^\S{1,200}$/.test(type) &&
    isObject(get(event, "payload")) &&
    isOptionalText("dedupe_key") &&
    isOptionalText("event_id")
  );
};
