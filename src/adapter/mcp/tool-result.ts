// What a tool's answer becomes in the journal: its structured content, else its text. Pictures, sound and
// files are described, never copied; what is longer than the limit is cut and says by how much.

import { hash } from "node:crypto";
import { isObject, type Json, type JsonObject, put } from "../../base/json.ts";
import type { ToolAnswer } from "../../engine/ports.ts";
import { toolError } from "../tool/bound-tool.ts";

export interface ResultLimits {
  readonly maxBytes: number;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

const ERROR_BYTES = 4096;
const BLOCKS_MAX = 100;

export function answerOf(result: JsonObject, { maxBytes, redact }: ResultLimits): ToolAnswer {
  const blocks = Array.isArray(result["content"]) ? result["content"].filter(isObject) : [];
  if (result["isError"] === true) {
    const text = textOf(blocks) || JSON.stringify(result["structuredContent"] ?? "the tool failed");
    return toolError("tool_error", cut(redact(text), ERROR_BYTES));
  }
  const structured = result["structuredContent"];
  if (structured !== undefined) return { ok: true, value: bounded(redacted(structured, redact), maxBytes) };
  if (blocks.length === 0) return { ok: true, value: null };
  if (blocks.every(isText)) return { ok: true, value: cut(redact(textOf(blocks)), maxBytes) };
  return { ok: true, value: mixed(blocks, { maxBytes, redact }) };
}

const isText = (block: JsonObject): boolean => block["type"] === "text";

const textOf = (blocks: readonly JsonObject[]): string =>
  blocks
    .filter(isText)
    .map((block) => String(block["text"] ?? ""))
    .join("\n");

function mixed(blocks: readonly JsonObject[], { maxBytes, redact }: ResultLimits): Json {
  const text = textOf(blocks);
  const others = blocks.filter((block) => !isText(block));
  const content = others.slice(0, BLOCKS_MAX).map((block) => redacted(described(block), redact));
  const value: JsonObject = {
    ...(text !== "" && { text: cut(redact(text), maxBytes) }),
    content,
    ...(others.length > BLOCKS_MAX && { left_out: others.length - BLOCKS_MAX }),
  };
  return bounded(value, 2 * maxBytes);
}

/** A block that is not text, small enough for a journal. */
function described(block: JsonObject): JsonObject {
  const { type, mimeType, uri, name, description } = block;
  const resource = isObject(block["resource"]) ? block["resource"] : undefined;
  const data = block["data"] ?? resource?.["blob"];
  const text = resource?.["text"];
  return {
    type: type ?? "unknown",
    ...short("uri", uri ?? resource?.["uri"]),
    ...short("name", name),
    ...short("description", description),
    ...short("mime_type", mimeType ?? resource?.["mimeType"]),
    ...(typeof text === "string" && { text: cut(text, ERROR_BYTES) }),
    ...(typeof data === "string" && digest(data)),
  };
}

const short = (key: string, value: Json | undefined): JsonObject =>
  typeof value === "string" ? { [key]: cut(value, 1024) } : {};

function digest(base64: string): JsonObject {
  const bytes = Buffer.from(base64, "base64");
  return { bytes: bytes.length, sha256: hash("sha256", bytes, "hex") };
}

/** A value that is too large as the beginning of its text. */
export function bounded(value: Json, maxBytes: number): Json {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  return bytes <= maxBytes ? value : { cut: true, bytes, json: cut(text, maxBytes) };
}

export function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  // A character that the limit falls into comes out as a replacement character at the end.
  const kept = Buffer.from(text).subarray(0, maxBytes).toString().replace(/�$/, "");
  return `${kept}\n[cut: ${bytes - Buffer.byteLength(kept)} of ${bytes} bytes left out]`;
}

/** Every text in it without secrets. */
export function redacted(value: Json, redact: (text: string) => string): Json {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item: Json) => redacted(item, redact));
  if (!isObject(value)) return value;
  const copy: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) put(copy, redact(key), redacted(item, redact));
  return copy;
}

/** Shorter values would take harmless words out of every text. */
const SECRET_LENGTH_MIN = 6;

/** Puts the name of the variable where its value stands. */
export function redactor(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const known = [...secrets].filter(([, value]) => value.length >= SECRET_LENGTH_MIN);
  // A secret that holds another one goes first, or its rest would stay.
  known.sort(([, a], [, b]) => b.length - a.length);
  return (text) => known.reduce((left, [name, value]) => left.replaceAll(value, `[${name}]`), text);
}
