// Tool definitions are pinned when first seen: a server that later describes a tool otherwise, or takes other
// arguments, has changed what a model is told and what a person agreed to, so the tool stops until it is
// pinned anew (its line taken out of the stored pins).

import { canonical, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { sha256Of } from "../../base/sha256.ts";

/** Digests of the parts of a definition, so that a change can be named. */
export interface ToolPin {
  readonly description: string;
  readonly input: string;
  readonly output: string;
}

/** By server and tool; plain data for a file. */
export type McpPins = Readonly<Record<string, Readonly<Record<string, ToolPin>>>>;

const DIGEST_LENGTH = 16;

export function pinOf(tool: JsonObject): ToolPin {
  return {
    description: digest(tool["description"]),
    input: digest(tool["inputSchema"]),
    output: digest(tool["outputSchema"]),
  };
}

/** The parts that differ, as people say it. */
export function changesSince(pin: ToolPin, now: ToolPin): readonly string[] {
  const parts = [
    pin.description === now.description ? [] : ["its description"],
    pin.input === now.input ? [] : ["the schema of its arguments"],
    pin.output === now.output ? [] : ["the schema of its result"],
  ];
  return parts.flat();
}

/** Pins from a file; what has another shape counts as not pinned. */
export function readPins(stored: McpPins): Map<string, Map<string, ToolPin>> {
  const pins = new Map<string, Map<string, ToolPin>>();
  for (const [server, tools] of Object.entries(stored)) {
    const known = Object.entries(tools).filter(([, pin]) => isPin(pin as unknown));
    pins.set(server, new Map(known));
  }
  return pins;
}

const isPin = (value: unknown): boolean =>
  isObject(value) && ["description", "input", "output"].every((part) => typeof value[part] === "string");

const digest = (value: Json | undefined): string =>
  value === undefined ? "none" : sha256Of(canonical(value)).slice(0, DIGEST_LENGTH);
