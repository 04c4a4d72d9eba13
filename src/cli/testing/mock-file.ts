// Mock-response files of the reference runtime as a model: one scenario, its entries numbered by model calls
// over the whole run. Which call took which entry is kept, because such a file depends on how many calls each
// state makes.

import { replyOf } from "../../adapter/script/scripted.ts";
import { OptionReader } from "../../adapter/tool/option-reader.ts";
import { isObject, type Json, type JsonObject, type Path } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { Fault, type ModelPort } from "../../engine/ports.ts";
import type { Document } from "./document.ts";

export interface MockScenario {
  readonly file: string;
  readonly name: string;
  readonly turns: ReadonlyMap<number, MockReply>;
  /** By step of a composition; looked at first, and numbered by nobody. */
  readonly steps: ReadonlyMap<string, MockReply>;
  /** Said where there is no entry: the scenario's own, or else the file's. */
  readonly fallback?: { readonly entry: string; readonly reply: MockReply };
}

export interface MockReply {
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly args: Json }[];
}

/** A model call and the entry that answered it. */
export interface TakenEntry {
  readonly call: number;
  /** Of the call, in whichever run it was made. */
  readonly key: string;
  readonly step: number;
  readonly state: string;
  /** Where it stands in the file; null when there was none. */
  readonly entry: string | null;
}

export function mockModel(scenario: MockScenario, taken: TakenEntry[]): ModelPort {
  const { file, name, turns, steps, fallback } = scenario;
  return {
    async call(_request, { key, step, state, part }) {
      const inStep = part === undefined ? undefined : steps.get(part);
      if (inStep !== undefined) return replyOf(inStep, step);
      // A call that is tried again is the same call.
      const known = taken.find((one) => one.key === key)?.call;
      const call = known ?? taken.length + 1;
      const reply = turns.get(call) ?? fallback?.reply;
      const entry = turns.has(call) ? `scenarios.${name}.turns.${call}` : (fallback?.entry ?? null);
      if (known === undefined) taken.push({ call, key, step, state, entry });
      if (reply === undefined) {
        const message = `\`${file}\` has no turn ${call} and no default for scenario \`${name}\``;
        throw new Fault("mock_missing", message, { retry: "never" });
      }
      return replyOf(reply, step);
    },
  };
}

/** Problems are those of the one scenario; the others are nobody's business here. */
export function readMock(
  { file, value }: Document,
  wanted: string | undefined,
): { readonly scenario?: MockScenario; readonly problems: OptionReader["problems"] } {
  const reader = new OptionReader(value, []);
  const all = reader.object("scenarios") ?? {};
  const name = wanted ?? (Object.keys(all).length === 1 ? Object.keys(all)[0] : undefined) ?? "";
  const own = Object.hasOwn(all, name) ? all[name] : undefined;
  if (!isObject(own)) {
    reader.wrong("scenarios", missing(wanted, Object.keys(all)));
    return { problems: reader.problems };
  }
  const path = ["scenarios", name];
  const scenario = new OptionReader(own, path, reader.problems);
  const steps = readSteps(scenario, path);
  const turns = readTurns(scenario, path);
  const ownDefault = scenario.text("defaultResponse");
  const fileDefault = reader.text("defaultResponse");
  scenario.end();
  const fallback =
    ownDefault === undefined
      ? fileDefault && { entry: "defaultResponse", reply: plain(fileDefault) }
      : { entry: `scenarios.${name}.defaultResponse`, reply: plain(ownDefault) };
  return {
    scenario: { file, name, turns, steps, ...(fallback && { fallback }) },
    problems: reader.problems,
  };
}

function missing(wanted: string | undefined, known: readonly string[]): string {
  const list = known.length === 0 ? "there is none" : known.join(", ");
  if (wanted === undefined) return `say which scenario is played (${list})`;
  const meant = suggest(wanted, known);
  return `there is no scenario \`${wanted}\` (${meant === undefined ? list : `did you mean \`${meant}\`?`})`;
}

const plain = (text: string): MockReply => ({ text, calls: [] });

function readTurns(scenario: OptionReader, path: Path): ReadonlyMap<number, MockReply> {
  const turns = new Map<number, MockReply>();
  for (const [key, entry] of Object.entries(scenario.object("turns") ?? {})) {
    const number = /^[1-9]\d{0,5}$/.test(key) ? Number(key) : undefined;
    const at = [...path, "turns", key];
    if (number === undefined) scenario.problems.push({ path: at, message: "turns are numbered from 1" });
    else if (typeof entry === "string") turns.set(number, plain(entry));
    else if (isObject(entry)) turns.set(number, readTurn(new OptionReader(entry, at, scenario.problems), at));
    else scenario.problems.push({ path: at, message: "a turn is a text or a mapping" });
  }
  return turns;
}

function readSteps(scenario: OptionReader, path: Path): ReadonlyMap<string, MockReply> {
  const steps = new Map<string, MockReply>();
  for (const [key, entry] of Object.entries(scenario.object("steps") ?? {})) {
    const at = [...path, "steps", key];
    if (typeof entry === "string") steps.set(key, plain(entry));
    else if (isObject(entry)) steps.set(key, readTurn(new OptionReader(entry, at, scenario.problems), at));
    else scenario.problems.push({ path: at, message: "a step is a text or a mapping" });
  }
  return steps;
}

const SOUNDS = ["audio_file", "audio_sample_rate", "audio_mime_type"];

function readTurn(reader: OptionReader, path: Path): MockReply {
  reader.oneOf("type", ["text", "tool_calls", "multimodal"]);
  const texts = ["content", "text", "response"].map((key) => reader.text(key));
  for (const key of SOUNDS)
    if (reader.any(key) !== undefined) reader.wrong(key, "sound cannot be played here (only text and calls)");
  const parts = partTexts(reader);
  const calls = listOf(reader.any("tool_calls")).flatMap((item, index) => {
    const call = isObject(item) ? callOf(item) : undefined;
    if (call === undefined)
      reader.problems.push({
        path: [...path, "tool_calls", index],
        message: "a call has a `name` and `arguments`",
      });
    return call === undefined ? [] : [call];
  });
  reader.end();
  return { text: texts.find((text) => text !== undefined) ?? parts.join("\n"), calls };
}

function partTexts(reader: OptionReader): readonly string[] {
  const parts = listOf(reader.any("parts"));
  const texts = parts.map((part) => (isObject(part) ? part["text"] : undefined));
  if (texts.some((text) => typeof text !== "string"))
    reader.wrong("parts", "only parts of type text can be played here");
  return texts.filter((text) => typeof text === "string");
}

function callOf(item: JsonObject): MockReply["calls"][number] | undefined {
  const { name, arguments: args } = item;
  return typeof name === "string" ? { tool: name, args: args ?? {} } : undefined;
}

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];
