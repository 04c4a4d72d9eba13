// A composition of a pack, read once: its steps by id, what each waits for and who may pass it over (S29).
// The numbers of a run's asks are called steps, so a step of a composition is a part in here.

import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { kept } from "../base/kept.ts";
import type { Program } from "./program.ts";

export interface Composition {
  /** In file order; a parallel part comes before its branches. */
  readonly parts: readonly PartSpec[];
  readonly partById: ReadonlyMap<string, PartSpec>;
  /** The part whose output is that of the composition; null: the last one that ran. */
  readonly output: string | null;
  readonly inputSchema: string | null;
  readonly outputSchema: string | null;
}

export type PartSpec = PartBase & PartWork;

interface PartBase {
  readonly id: string;
  /** The parallel part that it is a branch of. */
  readonly parent: string | null;
  /** The part before it in the list; null for the first, and for branches of a parallel part. */
  readonly previous: string | null;
  readonly dependsOn: readonly string[];
  /** Branch parts that lead to it. */
  readonly pickedBy: readonly string[];
  /** How often it is tried in all. */
  readonly attemptsMax: number;
}

export type PartWork =
  | PromptWork
  | { readonly kind: "tool"; readonly tool: string; readonly args: Json }
  | {
      readonly kind: "branch";
      readonly predicate: Json;
      readonly onTrue: string;
      readonly onFalse: string | null;
    }
  | {
      readonly kind: "parallel";
      readonly branches: readonly PartSpec[];
      readonly strategy: string;
      readonly into: string;
    }
  /** Of a vendor, or of a later specification. */
  | { readonly kind: "unknown"; readonly name: string };

export interface PromptWork {
  readonly kind: "prompt" | "agent";
  readonly prompt: string;
  /** Undefined: the composition's own input. */
  readonly input: Json | undefined;
  readonly outputSchema: string | null;
  readonly provider: string | null;
  /** Null: those of the prompt. Always empty for `prompt`. */
  readonly tools: readonly string[] | null;
  /** Rounds of tools; null: as many as the prompt allows. */
  readonly stepsMax: number | null;
  /** A good call of this tool ends the part. */
  readonly endsWith: string | null;
}

const compositions = new WeakMap<JsonObject, Composition>();

/** The composition that a state runs; undefined where the state runs none. */
export function compositionOf(program: Program, state: string | null): Composition | undefined {
  const states = program.workflow?.states ?? {};
  const spec = state !== null && Object.hasOwn(states, state) ? states[state] : undefined;
  const name = spec?.orchestration === "composition" ? spec.composition : null;
  return name === null || name === undefined ? undefined : compositionNamed(program, name);
}

export function compositionNamed({ compositions: all }: Program, name: string): Composition | undefined {
  const raw = Object.hasOwn(all, name) ? all[name] : undefined;
  return raw === undefined ? undefined : kept(compositions, raw, () => readComposition(raw));
}

function readComposition(raw: JsonObject): Composition {
  const pickers = pickersIn(objectsIn(raw["steps"]));
  const top = readParts(objectsIn(raw["steps"]), { parent: null, pickers });
  const parts = top.flatMap(withInner);
  return {
    parts,
    // Of two with one id the first is meant; the checker refuses such packs.
    partById: new Map(parts.toReversed().map((part) => [part.id, part])),
    output: textIn(raw["output"]),
    inputSchema: textIn(raw["input_schema"]),
    outputSchema: textIn(raw["output_schema"]),
  };
}

const withInner = (part: PartSpec): readonly PartSpec[] =>
  part.kind === "parallel" ? [part, ...part.branches.flatMap(withInner)] : [part];

/** Branch parts by the ids they lead to. */
type Pickers = ReadonlyMap<string, readonly string[]>;

function pickersIn(steps: readonly JsonObject[]): Pickers {
  const pickers = new Map<string, string[]>();
  const all = [...steps];
  // A list that grows is iterated to its end.
  for (const step of all) {
    all.push(...(step["kind"] === "parallel" ? objectsIn(step["branches"]) : []));
    if (step["kind"] !== "branch") continue;
    const targets = new Set([textIn(step["then"]), textIn(step["else"])]);
    for (const target of targets)
      if (target !== null) pickers.set(target, [...(pickers.get(target) ?? []), textOf(step, "id")]);
  }
  return pickers;
}

interface PartPlace {
  readonly parent: string | null;
  readonly pickers: Pickers;
}

function readParts(steps: readonly JsonObject[], { parent, pickers }: PartPlace): readonly PartSpec[] {
  return steps.map((raw, index) => {
    const before = parent === null ? steps[index - 1] : undefined;
    const id = textOf(raw, "id");
    return {
      id,
      parent,
      previous: before === undefined ? null : textOf(before, "id"),
      dependsOn: textsIn(raw["depends_on"]) ?? [],
      pickedBy: pickers.get(id) ?? [],
      attemptsMax: attemptsOf(raw),
      ...workOf(raw, pickers),
    };
  });
}

/** `retry.max_attempts` counts all attempts, the first one included. */
function attemptsOf(step: JsonObject): number {
  const attempts = get(get(step["modifiers"], "retry"), "max_attempts");
  return typeof attempts === "number" && attempts >= 1 ? Math.floor(attempts) : 1;
}

function workOf(raw: JsonObject, pickers: Pickers): PartWork {
  const kind = textOf(raw, "kind");
  switch (kind) {
    case "prompt":
    case "agent":
      return promptWork(raw, kind);
    case "tool":
      return { kind, tool: textOf(raw, "tool"), args: raw["args"] ?? {} };
    case "branch":
      return {
        kind,
        predicate: raw["predicate"] ?? null,
        onTrue: textOf(raw, "then"),
        onFalse: textIn(raw["else"]),
      };
    case "parallel":
      return {
        kind,
        branches: readParts(objectsIn(raw["branches"]), { parent: textOf(raw, "id"), pickers }),
        strategy: textIn(get(raw["reduce"], "strategy")) ?? "",
        into: textIn(get(raw["reduce"], "into")) ?? "",
      };
    default:
      return { kind: "unknown", name: kind };
  }
}

function promptWork(raw: JsonObject, kind: PromptWork["kind"]): PromptWork {
  const stepsMax = get(raw["termination"], "max_steps");
  return {
    kind,
    prompt: textOf(raw, "prompt_task"),
    input: raw["input"],
    outputSchema: textIn(raw["output_schema"]),
    provider: textIn(raw["provider"]),
    tools: kind === "prompt" ? [] : textsIn(raw["tools"]),
    stepsMax: typeof stepsMax === "number" ? stepsMax : null,
    endsWith: textIn(get(raw["termination"], "tool_called")),
  };
}

const textIn = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);
const textOf = (raw: JsonObject, key: string): string => textIn(raw[key]) ?? "";

function textsIn(value: Json | undefined): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  return (value as readonly Json[]).filter((item) => typeof item === "string");
}

const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter((item) => isObject(item)) : [];
