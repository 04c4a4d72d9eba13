// What a tool did, from the event that came back. Few tools speak of agents: mostly it is the tool's own
// event, of which everything is taken away that the request brought along.

import { deepEqual, get, isObject, type Json, type JsonObject, put } from "../base/json.ts";
import { type Correlation, TOOL_RESULT } from "./correlation.ts";
import type { RunRecord } from "./run-record.ts";
import { toolRequest } from "./tool-request.ts";

export type ToolResult =
  | { readonly ok: true; readonly value: JsonObject; readonly completedAt: string }
  | { readonly ok: false; readonly error: ToolFailure; readonly completedAt: string };

export interface ToolFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

interface Delivered {
  readonly event: JsonObject;
  /** The event before the host merged its context into it, from hosts that send it. */
  readonly raw: JsonObject | undefined;
  readonly now: string;
}

const MESSAGE_MAX = 500;

export function readToolResult(
  delivered: Delivered,
  { runId, run, found }: { runId: string; run: RunRecord; found: Correlation },
): ToolResult {
  const { event, now } = delivered;
  const payload = get(event, "payload") ?? {};
  if (get(event, "type") === TOOL_RESULT)
    return explicitResult(payload, textAt(payload, "completed_at") ?? now);
  const time = textAt(event, "timestamp");
  const completedAt = time === undefined || time.startsWith("0001-") ? now : time;
  const own = withoutEchoes(ownPayload(delivered), pendingKeys(runId, run, found));
  switch (get(event, "type")) {
    case "gateway.step.failed":
      return { ok: false, error: failureIn(own), completedAt };
    case "ductile.step.succeeded":
    case "gateway.step.succeeded":
      return { ok: true, value: { summary: get(own, "result") ?? null }, completedAt };
    default:
      return { ok: true, value: own, completedAt };
  }
}

function explicitResult(payload: Json, completedAt: string): ToolResult {
  const status = get(payload, "status");
  if (status === "ok") {
    const result = get(payload, "result") ?? {};
    return { ok: true, value: isObject(result) ? result : { value: result }, completedAt };
  }
  if (status !== "error") {
    const error = { code: "bad_result", message: "the result is neither ok nor error", retryable: false };
    return { ok: false, error, completedAt };
  }
  const error = get(payload, "error") ?? null;
  const failure = isObject(error)
    ? failureIn(error)
    : failureIn({ message: typeof error === "string" ? error : "the tool failed" });
  return { ok: false, error: failure, completedAt };
}

function failureIn(error: JsonObject): ToolFailure {
  const code = textAt(error, "code");
  const message = textAt(error, "message") ?? textAt(error, "error") ?? "the tool failed";
  return {
    code: code !== undefined && /^[a-z][a-z0-9_-]{0,63}$/.test(code) ? code : "tool_failed",
    message: message.slice(0, MESSAGE_MAX),
    retryable: get(error, "retryable") !== false,
  };
}

function ownPayload({ event, raw }: Delivered): JsonObject {
  const before =
    raw !== undefined && get(raw, "type") === get(event, "type") ? get(raw, "payload") : undefined;
  const payload = isObject(before) ? before : get(event, "payload");
  return isObject(payload) ? payload : {};
}

/** What the request carried. A run of RFC-103's time has kept nothing of it but the correlation. */
function pendingKeys(runId: string, run: RunRecord, { step, tool }: Correlation): JsonObject {
  if (run.pending_step === null) return { run_id: runId, step, tool, tool_command: "handle" };
  if (run.pending_input === null) return { run_id: runId, step, tool, tool_command: "handle" };
  return toolRequest(runId, run).payload;
}

function withoutEchoes(payload: JsonObject, pending: JsonObject): JsonObject {
  const own: Record<string, Json> = {};
  for (const [key, value] of Object.entries(payload)) {
    if (key === "agentic" || key === "ductile" || /^(ductile_|gateway_)/.test(key)) continue;
    const sent = get(pending, key);
    if (sent === undefined || !deepEqual(sent, value)) put(own, key, value);
  }
  return own;
}

const ARTIFACT_KEYS = ["artifact_path", "output_path", "file_path"];
const ARTIFACT_PATH = /^[^/\\\0][^\\\0]{0,299}$/;

/** Files that a result names, as far as their names lead nowhere else. */
export function artifactsNamed(value: JsonObject): readonly string[] {
  const named = ARTIFACT_KEYS.flatMap((key) => textAt(value, key) ?? []);
  return named.filter(isInnerPath);
}

/** Relative, with forward slashes, without a step upwards. */
export const isInnerPath = (path: string): boolean =>
  ARTIFACT_PATH.test(path) && !path.split("/").some((part) => part === ".." || part === "." || part === "");

const textAt = (value: Json, key: string): string | undefined => {
  const text = get(value, key);
  return typeof text === "string" ? text : undefined;
};
