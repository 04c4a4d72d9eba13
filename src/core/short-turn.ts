// Turns and runs without the rest of their largest values, for who shows them before anybody asked for those.
// Whatever the fold reads keeps its shape: only long texts are cut, and long lists and objects inside values
// that mean nothing to it. Where something was left out stands a mark that names the turn which has it.

import { isObject, type Json, type JsonObject, put } from "../base/json.ts";
import { itemsOf, logOf } from "../base/log.ts";
import type { Fact, ModelReply, TurnRow } from "./facts.ts";
import type { ArtifactValue, Message, Run } from "./run.ts";

/** Characters; what is longer is cut. */
const LONG = 64 * 1024;
/** What is left of it: enough to see what it is. */
const LEFT = 4 * 1024;

const OPEN = "\uf8f0";
const CLOSE = "\uf8f1";
const MARK = /\uf8f0(\d{1,15}):(\d{1,15})\uf8f1/g;

export interface LeftOut {
  /** The turn that has all of it; 0 for a folded run. */
  readonly turn: number;
  /** About so many characters. */
  readonly size: number;
  /** Where in the text the mark stands. */
  readonly at: number;
  readonly length: number;
}

/** Marks in a text, wherever it was put since. One that somebody else wrote names a turn that has no more. */
export function leftOutOf(text: string): readonly LeftOut[] {
  if (!text.includes(OPEN)) return [];
  return [...text.matchAll(MARK)].map(({ 0: { length }, 1: turn, 2: size, index: at }) => ({
    turn: Number(turn),
    size: Number(size),
    at,
    length,
  }));
}

export function shortRow(row: TurnRow): TurnRow {
  const facts = row.facts.map((fact) => shortFact(fact, row.turn));
  return facts.some((fact, at) => fact !== row.facts[at]) ? { ...row, facts } : row;
}

export function shortRun(run: Run): Run {
  const { artifacts, conversation, ...rest } = run;
  const shorter: Record<string, ArtifactValue> = {};
  for (const [name, artifact] of Object.entries(artifacts)) put(shorter, name, shortArtifact(artifact));
  return {
    ...(shortTexts(rest as unknown as Json, 0) as unknown as typeof rest),
    artifacts: shorter,
    conversation: logOf(itemsOf(conversation).map(shortMessage)),
  };
}

function shortFact(fact: Fact, turn: number): Fact {
  switch (fact.type) {
    case "wrote":
      return { ...fact, value: shortValue(fact.value, turn) };
    case "asked":
      return "args" in fact.ask
        ? { ...fact, ask: { ...fact.ask, args: shortValue(fact.ask.args, turn) as JsonObject } }
        : fact;
    case "answered": {
      const { outcome } = fact;
      if (!outcome.ok) return shortTexts(fact as unknown as Json, turn) as unknown as Fact;
      const { value } = outcome;
      const shorter = isReply(value) ? shortReply(value, turn) : shortValue(value, turn);
      return shorter === value ? fact : { ...fact, outcome: { ...outcome, value: shorter } };
    }
    default:
      return shortTexts(fact as unknown as Json, turn) as unknown as Fact;
  }
}

/** A tool may answer with something of that shape: then less of it is cut. */
const isReply = (value: Json): value is JsonObject =>
  isObject(value) &&
  typeof value["text"] === "string" &&
  Array.isArray(value["calls"]) &&
  (value["calls"] as readonly Json[]).every(isObject);

/** Its calls stay, each with what it was called with cut for itself. */
function shortReply(value: JsonObject, turn: number): JsonObject {
  const { calls, ...rest } = value as unknown as ModelReply;
  return {
    ...(shortTexts(rest as unknown as Json, turn) as JsonObject),
    calls: shortCalls(calls, turn) as unknown as Json,
  };
}

const shortCalls = (calls: ModelReply["calls"], turn: number): ModelReply["calls"] =>
  calls.map((call) => ("args" in call ? { ...call, args: shortValue(call.args, turn) } : call));

function shortMessage(message: Message): Message {
  if (message.role === "result") return { ...message, value: shortValue(message.value, 0) };
  const shorter = shortTexts(message as unknown as Json, 0) as unknown as Message;
  return shorter.role === "assistant" && message.role === "assistant"
    ? { ...shorter, calls: shortCalls(message.calls, 0) }
    : shorter;
}

function shortArtifact(artifact: ArtifactValue): ArtifactValue {
  if (artifact.mode === "replace") return { ...artifact, value: shortValue(artifact.value, 0) };
  const pieces = shortValue([...itemsOf(artifact.pieces)], 0) as readonly Json[];
  return { ...artifact, pieces: logOf(pieces) };
}

const mark = (turn: number, size: number): string => `${OPEN}${turn}:${size}${CLOSE}`;

const shortText = (text: string, turn: number): string =>
  text.length > LONG ? text.slice(0, LEFT) + mark(turn, text.length - LEFT) : text;

/** Every long text in it, and nothing else. What has none is given back as it is. */
function shortTexts(value: Json, turn: number): Json {
  if (typeof value === "string") return shortText(value, turn);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => shortTexts(item, turn));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const entries = Object.entries(value);
  const shorter = entries.map(([key, item]) => [key, shortTexts(item, turn)] as const);
  return shorter.some(([, item], at) => item !== entries[at]?.[1]) ? objectOf(shorter) : value;
}

const shortValue = (value: Json, turn: number): Json => cut(value, turn).value;

interface Cut {
  readonly value: Json;
  /** About, of what is left. */
  readonly size: number;
}

function cut(value: Json, turn: number): Cut {
  if (typeof value === "string") {
    const text = shortText(value, turn);
    return { value: text, size: text.length + 2 };
  }
  if (value === null || typeof value !== "object") return { value, size: 6 };
  const isList = Array.isArray(value);
  const keys = isList ? undefined : Object.keys(value);
  const count = keys?.length ?? (value as readonly Json[]).length;
  const items: (readonly [key: string, cut: Cut, before: Json])[] = [];
  let size = 2;
  // As soon as it is too long the others are not looked at: there may be any number of them.
  for (let at = 0; at < count && size <= LONG; at++) {
    const key = keys?.[at] ?? "";
    const before = (value as Record<string | number, Json>)[keys === undefined ? at : key] as Json;
    const one = cut(before, turn);
    size += one.size + key.length + (isList ? 1 : 4);
    items.push([key, one, before]);
  }
  const made = (kept: readonly (readonly [string, Json])[]): Json =>
    isList ? kept.map(([, item]) => item) : objectOf(kept);
  if (size <= LONG) {
    const isSame = items.every(([, one, before]) => one.value === before);
    return { value: isSame ? value : made(items.map(([key, one]) => [key, one.value])), size };
  }
  const first: (readonly [string, Json])[] = [];
  let kept = 0;
  for (const [key, one] of items) {
    if (kept > 0 && kept + one.size > LEFT) break;
    first.push([key, one.value]);
    kept += one.size + key.length + 4;
  }
  const rest = mark(turn, Math.max(1, Math.round((size / items.length) * count) - kept));
  return { value: made([...first, [rest, isList ? rest : null]]), size: kept + rest.length };
}

function objectOf(entries: readonly (readonly [string, Json])[]): JsonObject {
  const made = {};
  for (const [key, value] of entries) put(made, key, value);
  return made;
}
