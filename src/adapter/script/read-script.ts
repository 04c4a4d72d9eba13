// A script file: what the model answers, what the tools return, which events people send. A documented
// feature for tests of packs, demos and runs without a key.

import { isObject, type Json, type JsonObject, type Path } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";

export interface Script {
  /** By state, then by prompt. */
  readonly states: Readonly<Record<string, readonly Response[]>>;
  readonly prompts: Readonly<Record<string, readonly Response[]>>;
  /** By step of a composition; looked at before the others. */
  readonly steps: Readonly<Record<string, readonly Response[]>>;
  readonly tools: Readonly<Record<string, readonly ToolResponse[]>>;
  readonly events: Readonly<Record<string, readonly ScriptedEvent[]>>;
}

export interface Response {
  /** Only for runs whose task holds this text; of agents, which are asked one thing each. */
  readonly when?: string;
  readonly text?: string;
  /** In steps: the answer as JSON, for those with an `output_schema`. */
  readonly json?: Json;
  readonly calls?: readonly { readonly tool: string; readonly args?: Json }[];
  readonly artifacts?: JsonObject;
  readonly event?: string;
  readonly context?: string;
  readonly delay_ms?: number;
  readonly fail?: { readonly status?: number; readonly message?: string };
  readonly usage?: {
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly cost_usd?: number;
  };
}

export interface ToolResponse {
  readonly ok?: Json;
  readonly error?: string;
  readonly delay_ms?: number;
  readonly fail?: { readonly status?: number; readonly message?: string };
}

export interface ScriptedEvent {
  readonly event: string;
  readonly by?: string;
  readonly context?: string;
  readonly artifacts?: JsonObject;
}

export interface ScriptProblem {
  readonly path: Path;
  readonly message: string;
}

const SECTIONS = ["states", "prompts", "steps", "tools", "events"] as const;
const KEYS: Readonly<Record<(typeof SECTIONS)[number], readonly string[]>> = {
  states: ["when", "text", "calls", "artifacts", "event", "context", "delay_ms", "fail", "usage"],
  prompts: ["when", "text", "calls", "artifacts", "event", "context", "delay_ms", "fail", "usage"],
  steps: ["when", "text", "json", "calls", "artifacts", "delay_ms", "fail", "usage"],
  tools: ["ok", "error", "delay_ms", "fail"],
  events: ["event", "by", "context", "artifacts"],
};

/** The script, or everything that is wrong with it. */
export function readScript(value: Json): {
  readonly script: Script;
  readonly problems: readonly ScriptProblem[];
} {
  const problems: ScriptProblem[] = [];
  const say = (path: Path, message: string) => problems.push({ path, message });
  const empty: Script = { states: {}, prompts: {}, steps: {}, tools: {}, events: {} };
  if (!isObject(value)) {
    say([], "a script is a mapping with states, prompts, steps, tools or events");
    return { script: empty, problems };
  }
  unknownKeys(value, SECTIONS, [], say);
  for (const section of SECTIONS) {
    const entries = value[section] ?? {};
    if (!isObject(entries)) say([section], `\`${section}\` is a mapping from names to lists`);
    else for (const [name, list] of Object.entries(entries)) checkList(section, list, [section, name], say);
  }
  // A section without entries (`tools:`) is null in YAML.
  const given = Object.entries(value).filter(([, entries]) => entries !== null);
  return { script: { ...empty, ...(Object.fromEntries(given) as Partial<Script>) }, problems };
}

type Say = (path: Path, message: string) => void;

function checkList(section: (typeof SECTIONS)[number], list: Json, path: Path, say: Say): void {
  if (!Array.isArray(list) || list.length === 0) return say(path, "expected a list with at least one entry");
  for (const [index, entry] of (list as readonly Json[]).entries()) {
    const at = [...path, index];
    if (!isObject(entry)) say(at, "an entry is a mapping");
    else {
      unknownKeys(entry, KEYS[section], at, say);
      checkEntry(section, entry, at, say);
    }
  }
  return undefined;
}

function checkEntry(section: (typeof SECTIONS)[number], entry: JsonObject, at: Path, say: Say): void {
  const wrong = (key: string, type: string) => {
    if (entry[key] !== undefined && typeof entry[key] !== type) say([...at, key], `\`${key}\` is a ${type}`);
  };
  for (const key of ["when", "text", "event", "context", "error", "by"]) wrong(key, "string");
  wrong("delay_ms", "number");
  for (const key of ["fail", "usage", "artifacts"]) {
    if (entry[key] !== undefined && !isObject(entry[key])) say([...at, key], `\`${key}\` is a mapping`);
  }
  if (section === "events" && entry["event"] === undefined) say(at, "an event entry names its `event`");
  const { calls } = entry;
  if (calls === undefined) return;
  if (!Array.isArray(calls)) return say([...at, "calls"], "`calls` is a list of { tool, args }");
  for (const [index, call] of (calls as readonly Json[]).entries()) {
    if (!isObject(call) || typeof call["tool"] !== "string")
      say([...at, "calls", index], "a call names its `tool`");
  }
}

function unknownKeys(value: JsonObject, known: readonly string[], path: Path, say: Say): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = suggest(key, known);
    say(
      [...path, key],
      `\`${key}\` is not known here (${meant === undefined ? `expected ${known.join(", ")}` : `did you mean \`${meant}\`?`})`,
    );
  }
}
