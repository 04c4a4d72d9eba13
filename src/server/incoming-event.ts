// CloudEvents 1.0 that are sent to a run, in structured and in binary mode, as the event they mean: the last
// part of the type is its name unless `packloopevent` says it, and id and source make it the same when it comes
// again.

import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { Problem } from "./problem.ts";
import { isJsonType, jsonOf } from "./request-body.ts";

export const STRUCTURED_TYPE = "application/cloudevents+json";

export interface IncomingEvent {
  readonly name: string;
  readonly source: string;
  readonly dedupeKey: string;
  readonly context?: string;
  readonly artifacts?: JsonObject;
}

interface Incoming {
  readonly type: string;
  readonly bytes: Buffer;
  readonly header: (name: string) => string | undefined;
}

export function incomingEvent({ type, bytes, header }: Incoming): IncomingEvent {
  const event = type === STRUCTURED_TYPE ? structured(bytes) : binary(type, bytes, header);
  const { specversion, id, source, type: kind, packloopevent: given, data } = event;
  if (specversion !== "1.0") throw wrong("specversion", 'expected "1.0"');
  for (const [name, value] of Object.entries({ id, source, type: kind }))
    if (typeof value !== "string" || value === "") throw wrong(name, "expected a text that is not empty");
  if (given !== undefined && (typeof given !== "string" || given === ""))
    throw wrong("packloopevent", "expected the name of an event");
  const name = typeof given === "string" ? given : (String(kind).split(".").at(-1) ?? "");
  if (name === "") throw wrong("type", "expected a name behind the last point");
  return {
    name,
    source: String(source),
    dedupeKey: `event ${String(source)} ${String(id)}`,
    ...saidBy(data),
  };
}

function structured(bytes: Buffer): JsonObject {
  const event = jsonOf(bytes);
  if (!isObject(event)) throw new Problem("bad-request", "a CloudEvent is an object");
  if (event["data_base64"] === undefined) return event;
  const text = event["data_base64"];
  if (typeof text !== "string") throw wrong("data_base64", "expected a text");
  const type = event["datacontenttype"];
  return { ...event, data: dataOf(typeof type === "string" ? type : "", Buffer.from(text, "base64")) };
}

const NAMES = ["specversion", "id", "source", "type", "packloopevent"] as const;

function binary(type: string, bytes: Buffer, header: Incoming["header"]): JsonObject {
  const given = NAMES.map((name) => [name, header(`ce-${name}`)] as const);
  const attributes = given.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, decoded(name, value)] as const],
  );
  const data = bytes.length === 0 ? {} : { data: dataOf(type, bytes) };
  return { ...Object.fromEntries(attributes), ...data };
}

/** Header values are percent-encoded where they are not plain ASCII. */
function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw wrong(name, "its percent-encoding is broken");
  }
}

function dataOf(type: string, bytes: Buffer): Json {
  const plain = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return isJsonType(plain) ? jsonOf(bytes) : bytes.toString("utf8");
}

/** An object of `context` and `artifacts` says them; anything else is the context, as it is or as JSON. */
function saidBy(data: Json | undefined): Pick<IncomingEvent, "context" | "artifacts"> {
  if (data === undefined || data === null) return {};
  if (typeof data === "string") return { context: data };
  const isOurs = isObject(data) && Object.keys(data).every((key) => key === "context" || key === "artifacts");
  if (!isOurs) return { context: JSON.stringify(data) };
  const { context, artifacts } = data;
  if (context !== undefined && typeof context !== "string") throw wrong("data/context", "expected a text");
  if (artifacts !== undefined && !isObject(artifacts)) throw wrong("data/artifacts", "expected an object");
  return { ...(context !== undefined && { context }), ...(artifacts !== undefined && { artifacts }) };
}

const wrong = (where: string, message: string): Problem =>
  new Problem("bad-request", `\`${where}\` of the CloudEvent: ${message}`, {
    extras: { errors: [{ pointer: `/${where}`, message }] },
  });
