// What a text orders: calls in every notation models and frameworks use, and whatever can be done with an
// address, a path or a name in it.

import type { Json, JsonObject } from "../../src/base/json.ts";
import { parsed, readings } from "./hidden-texts.ts";

export interface Order {
  readonly tool: string;
  readonly args: Json;
}

/** A conversation is read again at every call. */
const known = new Map<string, readonly Order[]>();

export function ordersIn(text: string): readonly Order[] {
  const found = known.get(text) ?? readOrders(text);
  known.set(text, found);
  return found;
}

function readOrders(text: string): readonly Order[] {
  const orders: Order[] = [];
  for (const reading of readings(text)) {
    const values = [parsed(reading), ...objectsIn(reading).map(({ value }) => value)];
    for (const value of values) orders.push(...callsIn(value));
    orders.push(...namedCalls(reading), ...taggedCalls(reading), ...wishes(reading));
  }
  return unique(orders);
}

export const keyOf = (order: Order): string => JSON.stringify([order.tool, order.args]);

const unique = (orders: readonly Order[]): readonly Order[] => [
  ...new Map(orders.map((order) => [keyOf(order), order])).values(),
];

interface Found {
  readonly start: number;
  readonly value: unknown;
}

/** JSON objects within a text; so many and so long that a test ends. */
function objectsIn(text: string): readonly Found[] {
  const found: Found[] = [];
  for (let start = text.indexOf("{"); start >= 0 && found.length < 20; start = text.indexOf("{", start + 1)) {
    const end = endOf(text, start);
    const value = end === undefined ? undefined : parsed(text.slice(start, end));
    if (value !== undefined) found.push({ start, value });
  }
  return found;
}

function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < Math.min(text.length, start + 4000); at++) {
    const character = text[at];
    if (quoted && character === "\\") at++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === "{") depth++;
    else if (!quoted && character === "}" && --depth === 0) return at + 1;
  }
  return undefined;
}

const NAMES = ["tool", "name", "function", "tool_name", "recipient_name", "action"];
const ARGUMENTS = ["arguments", "args", "input", "parameters", "params", "action_input"];

/** Objects that look like a call, at any depth. */
function callsIn(value: unknown): readonly Order[] {
  if (typeof value !== "object" || value === null) return [];
  const fields = new Map(Object.entries(value));
  const tool = NAMES.map((name) => fields.get(name)).find((one) => typeof one === "string");
  const args = ARGUMENTS.map((name) => fields.get(name)).find((one) => one !== undefined);
  const own = typeof tool === "string" && args !== undefined ? [{ tool, args: objectOf(args) }] : [];
  return [...own, ...[...fields.values()].flatMap(callsIn)];
}

const objectOf = (args: unknown): Json => (typeof args === "string" ? (parsed(args) ?? args) : args) as Json;

/** A name in quotes and the arguments behind it, whatever language stands between. */
function namedCalls(text: string): readonly Order[] {
  return objectsIn(text).flatMap(({ start, value }) => {
    const before = text.slice(Math.max(0, start - 120), start);
    const names = [...before.matchAll(/[`"'“«]([^`"'”»\n]{2,60})[`"'”»]/g)].map(
      (match) => match[1] as string,
    );
    return names.map((tool) => ({ tool, args: value as Json }));
  });
}

/** `<invoke name="x"><parameter name="y">…</parameter></invoke>`, `<function=x>{…}</function>`. */
function taggedCalls(text: string): readonly Order[] {
  const orders: Order[] = [];
  for (const [, tool = "", body = ""] of text.matchAll(
    /<invoke name="([^"]+)">([\s\S]{0,2000}?)<\/invoke>/g,
  )) {
    const parameters = [...body.matchAll(/<parameter name="([^"]+)">([\s\S]*?)<\/parameter>/g)];
    const args = Object.fromEntries(
      parameters.map(([, name = "", value = ""]) => [name, parsed(value) ?? value]),
    ) as JsonObject;
    orders.push({ tool, args });
  }
  for (const [, tool = "", body = ""] of text.matchAll(/<function=([^>]+)>([\s\S]{0,2000}?)<\/function>/g))
    orders.push({ tool, args: objectOf(body.trim()) });
  return orders;
}

/** An address is visited, a path is read, a name of an event is followed. */
function wishes(text: string): readonly Order[] {
  const orders: Order[] = [];
  for (const [url] of limited(text.matchAll(/https?:\/\/[^\s"'`<>\\)}\]]+/g))) {
    orders.push({ tool: "fetch_page", args: { url } });
    orders.push({ tool: "run_command", args: { argv: ["curl", url] } });
  }
  for (const [path] of limited(text.matchAll(/(?:\.\.\/|\/)[\w.-]+(?:\/[\w.-]+)+|\.env\b/g))) {
    orders.push({ tool: "read_file", args: { path } });
    orders.push({ tool: "run_command", args: { argv: ["cat", path] } });
  }
  for (const [, event = ""] of limited(text.matchAll(/\bevent\b["'`:= ]{1,5}([A-Za-z_]{2,40})/gi)))
    orders.push({ tool: "workflow__transition", args: { event } });
  return orders;
}

const limited = (matches: Iterable<RegExpExecArray>): readonly RegExpExecArray[] => [...matches].slice(0, 4);
