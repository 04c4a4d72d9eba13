// What a context becomes when a job is queued for a step: what the pipeline claims as baggage, or with
// `accumulate` the whole payload. Claimed values are never changed by a later hop.

import { get, isObject, type Json, type JsonObject, put } from "../../base/json.ts";
import type { PipelineNode, Source } from "../pipeline/pipeline.ts";
import type { Context } from "../queue/job.ts";

export type ContextMode = "isolated" | "accumulate";

export interface HopFailure {
  readonly code: "baggage-missing" | "context-too-large";
  readonly message: string;
}

const CONTEXT_BYTES_MAX = 1_048_576;

export function hop(
  context: Context,
  { node, payload, mode }: { node: PipelineNode; payload: JsonObject; mode: ContextMode },
): Context | HopFailure {
  let body = mode === "accumulate" ? accumulated(context.body, payload) : context.body;
  for (const [path, source] of node.baggage) {
    const value = at(source.from === "payload" ? payload : context.body, source.path);
    if (value === undefined) return missing(node.id, path, source);
    body = claimed(body, path.split("."), value);
  }
  if (body === context.body) return context;
  const size = Buffer.byteLength(JSON.stringify(body));
  if (size > CONTEXT_BYTES_MAX)
    return { code: "context-too-large", message: `the context of step \`${node.id}\` has ${size} bytes` };
  return { id: null, body, replyTo: context.replyTo };
}

const missing = (step: string, path: string, source: Source): HopFailure => ({
  code: "baggage-missing",
  message: `step \`${step}\` needs \`${source.from}.${source.path.join(".")}\` for \`${path}\`, and it is not there`,
});

/** Correlation is the gateway's, and where something came from stays as it was. */
function accumulated(body: JsonObject, payload: JsonObject): JsonObject {
  const made: Record<string, Json> = {};
  for (const [key, value] of Object.entries(body)) put(made, key, value);
  for (const [key, value] of Object.entries(payload)) {
    const isKept = key === "agentic" || (key.startsWith("origin_") && Object.hasOwn(body, key));
    if (!isKept) put(made, key, value);
  }
  return made;
}

/** The same object when the place is taken: the first claim stays. */
function claimed(body: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [key = "", ...rest] = path;
  const old = get(body, key);
  if (rest.length === 0 && old !== undefined) return body;
  if (rest.length > 0 && old !== undefined && !isObject(old)) return body;
  const inner = rest.length === 0 ? value : claimed(isObject(old) ? old : {}, rest, value);
  if (inner === old) return body;
  const made: Record<string, Json> = {};
  for (const [name, one] of Object.entries(body)) put(made, name, one);
  put(made, key, inner);
  return made;
}

/** The value at a path of keys. */
function at(value: Json, path: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const key of path)
    found = get(found, Array.isArray(found) && /^\d{1,9}$/.test(key) ? Number(key) : key);
  return found;
}

const PLACE = /\{((?:context|payload)\.[^\s{}]+)\}/g;

/** A template alone keeps the value's type. Undefined where a path leads nowhere. */
export function filled(
  template: string,
  values: { readonly context: JsonObject; readonly payload: JsonObject },
): { readonly value: Json } | { readonly missing: string } {
  const look = (place: string) => at(values, place.split("."));
  const whole = /^\{((?:context|payload)\.[^\s{}]+)\}$/.exec(template)?.[1];
  if (whole !== undefined) {
    const value = look(whole);
    return value === undefined ? { missing: whole } : { value };
  }
  let missingPlace: string | undefined;
  const text = template.replace(PLACE, (_, place: string) => {
    const value = look(place);
    if (value === undefined) missingPlace ??= place;
    return typeof value === "string" ? value : JSON.stringify(value ?? null);
  });
  return missingPlace === undefined ? { value: text } : { missing: missingPlace };
}
