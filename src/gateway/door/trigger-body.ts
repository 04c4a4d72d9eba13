// The body of a request that triggers something: `{payload, dedupe_key?}`, at most one mebibyte.

import { get, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { isDeeperThan } from "../../base/json-depth.ts";
import type { Trigger } from "../triggers.ts";
import { DoorError } from "./door-error.ts";

const BODY_BYTES_MAX = 1_048_576;
const KEY_MAX = 500;
const DEPTH_MAX = 200;

export async function readTrigger(request: Request): Promise<Trigger> {
  const body = parsed(await textOf(request));
  const payload = get(body, "payload") ?? {};
  if (!isObject(payload)) throw new DoorError("bad-request", "`payload` is not an object");
  const inBody = keyText(get(body, "dedupe_key"), "dedupe_key");
  const header = request.headers
    .get("idempotency-key")
    ?.trim()
    .replace(/^"(.*)"$/, "$1");
  const inHeader = keyText(header, "Idempotency-Key");
  if (inBody !== null && inHeader !== null && inBody !== inHeader)
    throw new DoorError("key-conflict", "`dedupe_key` and the Idempotency-Key header differ");
  return { payload, dedupeKey: inBody ?? inHeader, submittedBy: "api" };
}

function keyText(value: Json | undefined, name: string): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string" || value.length > KEY_MAX)
    throw new DoorError("bad-request", `\`${name}\` is not a text of at most ${KEY_MAX} characters`);
  return value;
}

async function textOf(request: Request): Promise<string> {
  const tooLarge = () => new DoorError("payload-too-large", `the body has more than ${BODY_BYTES_MAX} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += (chunk as Uint8Array).byteLength;
    if (size > BODY_BYTES_MAX) throw tooLarge();
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): JsonObject {
  if (text.trim() === "") return {};
  if (isDeeperThan(text, DEPTH_MAX))
    throw new DoorError("bad-request", `the body is nested deeper than ${DEPTH_MAX} levels`);
  try {
    const value = JSON.parse(text) as Json;
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DoorError("bad-request", `the body is not JSON: ${error.message.slice(0, 200)}`, {
      cause: error,
    });
  }
  throw new DoorError("bad-request", "the body is not a JSON object");
}
