// What a part of a composition works with: its prompt, with the tools and the provider that the part names,
// and the schema of what it gives.

import { assert, must } from "../base/assert.ts";
import { isObject, type Json, type JsonObject, put } from "../base/json.ts";
import { kept } from "../base/kept.ts";
import type { CallSite } from "./calls.ts";
import { compositionOf, type PartSpec, type PromptWork } from "./composition.ts";
import { partOf } from "./part-fold.ts";
import type { Program, PromptSpec } from "./program.ts";
import type { Run } from "./run.ts";

export function partSpec(program: Program, run: Run, id: string): PartSpec {
  const composition = must(compositionOf(program, run.state), "the state runs a composition");
  return must(composition.partById.get(id), "a part that was begun is one of the composition");
}

/** The prompt of a part that asks a model. */
export function partPrompt(program: Program, part: PromptWork): PromptSpec {
  const prompt = must(ownOf(program.prompts, part.prompt), "the prompt of a part exists");
  return {
    ...prompt,
    tools: part.tools ?? prompt.tools,
    provider: part.provider ?? prompt.provider,
    roundsMax: part.stepsMax ?? prompt.roundsMax,
  };
}

/** By its key; empty for a part that asks no model. */
export const promptNameOf = ({ prompt, composing }: Run, part: string | undefined): string =>
  part === undefined ? prompt : (partOf(composing, part)?.prompt ?? "");

/** The prompt that a question to a model belongs to; that of a part with what the part says about it. */
export function promptOf(program: Program, run: Run, part: string | undefined): PromptSpec {
  if (part === undefined) return must(ownOf(program.prompts, run.prompt), "the run's prompt exists");
  const spec = partSpec(program, run, part);
  assert(spec.kind === "prompt" || spec.kind === "agent", "only prompts ask models");
  return partPrompt(program, spec);
}

/** What may be called in a part. */
export function partCallSite(program: Program, run: Run, id: string, tools = true): CallSite {
  const spec = partSpec(program, run, id);
  const made = partOf(run.composing, id)?.calls ?? 0;
  if (spec.kind === "prompt" || spec.kind === "agent")
    return { prompt: partPrompt(program, spec), made, tools, part: id };
  const listed = spec.kind === "tool" ? [spec.tool] : [];
  return { prompt: { tools: listed, toolChoice: "auto", callsPerTurnMax: made + 1 }, made, tools, part: id };
}

export const offersTools = (prompt: PromptSpec): boolean =>
  prompt.toolChoice !== "none" && prompt.tools.length > 0;

/** What a template of a part sees: the run's variables, fields of its input that it declares, the input. */
export function partVariables(run: Run, prompt: PromptSpec, id: string): JsonObject {
  const input = partOf(run.composing, id)?.input ?? null;
  const variables: Record<string, Json> = { ...run.variables };
  if (isObject(input))
    for (const { name } of prompt.variables)
      if (Object.hasOwn(input, name)) put(variables, name, input[name]);
  variables["input"] = input;
  return variables;
}

/** A schema by the name a composition has for it: a fragment of the pack, or a file beside it. */
export function schemaNamed(program: Program, name: string): JsonObject | undefined {
  const fragment = fragmentNamed(name);
  if (fragment === undefined) return ownOf(program.schemas ?? {}, name);
  const text = ownOf(program.fragments, fragment);
  return text === undefined ? undefined : schemaIn(program, text);
}

/** `fragments.x`, as a placeholder or as a JSON pointer. */
export function fragmentNamed(name: string): string | undefined {
  const found = /^(?:\{\{\s*fragments\.(.+?)\s*\}\}|#?\/?fragments[./](.+))$/.exec(name);
  return found?.[1] ?? found?.[2];
}

/** By program: the same object every time, for validators are kept by it. */
const schemas = new WeakMap<Program, Map<string, JsonObject>>();

function schemaIn(program: Program, text: string): JsonObject | undefined {
  const value = parsed(text);
  if (!isObject(value)) return undefined;
  return kept(
    kept(schemas, program, () => new Map()),
    text,
    () => value,
  );
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
