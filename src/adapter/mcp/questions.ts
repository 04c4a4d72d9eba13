// What a server asks a person in the middle of a call, as a question that a run can wait with, and the
// person's answer in the words of the protocol.

import { get, isObject, type Json, type JsonObject, put } from "../../base/json.ts";
import { cut } from "./tool-result.ts";

/** One request of the server; kept in the handle of the waiting call. */
export interface Asked {
  readonly key: string;
  readonly kind: "form" | "url";
  /** The field of a form that has only one. */
  readonly only: string | null;
}

export interface Questions {
  readonly asked: readonly Asked[];
  readonly question: JsonObject;
}

const MESSAGE_BYTES = 4096;
const SCHEMA_BYTES = 65_536;

/** Undefined when the server asks for something that no person can answer here. */
export function questionsOf(inputRequests: JsonObject, label: string): Questions | undefined {
  const all = Object.entries(inputRequests).map(([key, request]) => oneQuestion(key, request));
  const known = all.filter((one) => one !== undefined);
  const [first] = known;
  if (first === undefined || known.length < all.length) return undefined;
  const asked = known.map(({ asked: one }) => one);
  if (known.length === 1) {
    const { text, schema, page } = first;
    return { asked, question: { text, schema, from: label, ...(page !== undefined && page) } };
  }
  const properties: Record<string, Json> = {};
  for (const one of known) put(properties, one.asked.key, one.schema);
  const text = known.map((one) => `${one.asked.key}: ${one.text}`).join("\n");
  const schema = { type: "object", properties, required: asked.map(({ key }) => key) };
  return { asked, question: { text, schema, from: label } };
}

interface OneQuestion {
  readonly asked: Asked;
  readonly text: string;
  readonly schema: JsonObject;
  /** Somebody is to see to something there, usually that we are let in. */
  readonly page?: { readonly url: string; readonly auth: true };
}

function oneQuestion(key: string, request: Json): OneQuestion | undefined {
  const params = get(request, "params");
  if (get(request, "method") !== "elicitation/create" || !isObject(params)) return undefined;
  const text = cut(String(params["message"] ?? "the server asks for input"), MESSAGE_BYTES);
  if (params["mode"] === "url") {
    const url = String(params["url"]);
    // Nobody is sent to an address that runs something where it is opened.
    if (!/^https?:/i.test(url) || !URL.canParse(url)) return undefined;
    const words = `${text}\nopen ${url} (host \`${new URL(url).host}\`), then answer true`;
    const asked = { key, kind: "url", only: null } as const;
    return { asked, text: words, schema: { type: "boolean" }, page: { url, auth: true } };
  }
  const schema = params["requestedSchema"];
  if (!isObject(schema) || JSON.stringify(schema).length > SCHEMA_BYTES) return undefined;
  const fields = Object.keys(isObject(schema["properties"]) ? schema["properties"] : {});
  const only = fields.length === 1 ? (fields[0] ?? null) : null;
  return { asked: { key, kind: "form", only }, text, schema };
}

/**
 * The answers by key; undefined when the input cannot fill the form, and the server is to ask again.
 * `{"action": "decline"}` or `{"action": "cancel"}` alone says no; a bare value fills the form that has one
 * field.
 */
export function responsesOf(asked: readonly Asked[], input: Json): JsonObject | undefined {
  const responses: Record<string, Json> = {};
  const refusal = refusalIn(input);
  for (const one of asked) {
    const given = asked.length === 1 ? input : (get(input, one.key) ?? null);
    const response = refusal ?? responseTo(one, given);
    if (response === undefined) return undefined;
    put(responses, one.key, response);
  }
  return responses;
}

function responseTo({ kind, only }: Asked, given: Json): JsonObject | undefined {
  const refusal = refusalIn(given);
  if (refusal !== undefined) return refusal;
  if (kind === "url") return { action: given === true ? "accept" : "decline" };
  if (isObject(given)) return { action: "accept", content: given };
  return only === null || given === null ? undefined : { action: "accept", content: { [only]: given } };
}

function refusalIn(input: Json): JsonObject | undefined {
  if (!isObject(input) || Object.keys(input).length !== 1) return undefined;
  const action = get(input, "action");
  return action === "decline" || action === "cancel" ? { action } : undefined;
}
