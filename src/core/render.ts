// A prompt as the model gets it (S38, S39). Fragments are expanded first, then every placeholder is filled in
// one pass: a value is text, whatever it contains. Each part of the result says where it came from.

import { must } from "../base/assert.ts";
import { get, type Json } from "../base/json.ts";
import type { Program, PromptSpec } from "./program.ts";
import {
  artifactName,
  defaultDelimiters,
  delimitersOf,
  fragmentName,
  type Hole,
  type Piece,
  parseTemplate,
} from "./template.ts";

export interface RenderRequest {
  /** A key of the program's prompts. */
  readonly prompt: string;
  /** Values given for the run; declared defaults are applied here. */
  readonly variables: Readonly<Record<string, Json>>;
  /** Current value; undefined when never written. Only what is shown is asked for: a log may be long. */
  readonly artifactOf: (name: string) => Json | undefined;
  /** What the last transition said (S21). */
  readonly workflowContext: string | null;
  /** Chooses among the prompt's model overrides. */
  readonly model?: string;
}

export interface RenderedPrompt {
  readonly text: string;
  readonly parts: readonly RenderedPart[];
  /** Placeholders that had no value, each once, in order. They are empty in the text. */
  readonly missing: readonly string[];
}

export interface RenderedPart {
  readonly text: string;
  readonly source: PartSource;
}

interface PartSource {
  readonly kind:
    | "template"
    | "fragment"
    | "variable"
    | "default"
    | "artifact"
    | "workflow_context"
    | "missing";
  /** The placeholder without its braces; for a template the prompt it belongs to. */
  readonly name: string;
}

/** Fragments within fragments. Deeper ones, and those that include themselves, count as missing. */
const DEPTH_MAX = 32;
/** Fragments that double at every level would fill time and memory; what goes beyond counts as missing. */
const INCLUDES_MAX = 10_000;
const INCLUDED_TEXT_MAX = 5_000_000;

export function renderPrompt(program: Program, request: RenderRequest): RenderedPrompt {
  const prompt = must(ownOf(program.prompts, request.prompt), "a rendered prompt is one of the program");
  const writer = new Writer(program, prompt, request);
  for (const template of templatesOf(prompt, request)) {
    writer.write(template.text, { kind: "template", name: template.name }, []);
  }
  return writer.result();
}

/** The values a prompt sees: what was given, and its own defaults. */
export function variablesFor(
  prompt: PromptSpec,
  given: Readonly<Record<string, Json>>,
): ReadonlyMap<string, { readonly value: Json; readonly isDefault: boolean }> {
  const values = new Map<string, { value: Json; isDefault: boolean }>();
  for (const { name, defaultValue } of prompt.variables) {
    // `default: null` is how authors write that there is none.
    if (defaultValue !== undefined && defaultValue !== null)
      values.set(name, { value: defaultValue, isDefault: true });
  }
  for (const [name, value] of Object.entries(given)) values.set(name, { value, isDefault: false });
  return values;
}

interface Template {
  readonly text: string;
  readonly name: string;
}

/** An override's template replaces the base; its prefix and suffix go around whichever it is. */
function templatesOf(prompt: PromptSpec, { prompt: name, model }: RenderRequest): readonly Template[] {
  const override = model === undefined ? undefined : get(prompt.modelOverrides, model);
  const textOf = (field: string): string | undefined => {
    const text = get(override, field);
    return typeof text === "string" ? text : undefined;
  };
  const overriding = `model_overrides.${model}`;
  const around = (field: string): readonly Template[] => {
    const text = textOf(field);
    return text === undefined ? [] : [{ text, name: overriding }];
  };
  const replacement = textOf("system_template");
  const base =
    replacement === undefined
      ? { text: prompt.systemTemplate, name }
      : { text: replacement, name: overriding };
  return [...around("system_template_prefix"), base, ...around("system_template_suffix")];
}

/** Templates are parsed once for each program: a loop renders the same ones at every step. */
const parsed = new WeakMap<Program, Map<string, readonly Piece[]>>();

function piecesOf(program: Program, template: string): readonly Piece[] {
  let known = parsed.get(program);
  if (known === undefined) {
    known = new Map();
    parsed.set(program, known);
  }
  let pieces = known.get(template);
  if (pieces === undefined) {
    pieces = parseTemplate(template, delimitersOf(program.syntax) ?? defaultDelimiters);
    known.set(template, pieces);
  }
  return pieces;
}

/** Gathers the parts of one prompt. */
class Writer {
  readonly #program: Program;
  readonly #request: RenderRequest;
  readonly #variables: ReturnType<typeof variablesFor>;
  readonly #declared: ReadonlySet<string>;
  readonly #parts: RenderedPart[] = [];
  readonly #missing = new Set<string>();
  #includes = 0;
  #includedText = 0;

  constructor(program: Program, prompt: PromptSpec, request: RenderRequest) {
    this.#program = program;
    this.#request = request;
    this.#variables = variablesFor(prompt, request.variables);
    this.#declared = new Set(prompt.variables.map((variable) => variable.name));
  }

  write(template: string, source: PartSource, chain: readonly string[]): void {
    for (const piece of piecesOf(this.#program, template)) {
      if (piece.kind === "text") this.#add(piece.text, source);
      else if (piece.kind === "odd") this.#add(piece.raw, source);
      else this.#fill(piece, chain);
    }
  }

  result(): RenderedPrompt {
    return {
      text: this.#parts.map((part) => part.text).join(""),
      parts: this.#parts,
      missing: [...this.#missing],
    };
  }

  #fill(hole: Hole, chain: readonly string[]): void {
    const fragment = this.#fragmentOf(hole);
    if (fragment !== undefined) this.#include(fragment, hole, chain);
    else this.#substitute(hole);
  }

  /** `{{fragments.x}}`, and `{{x}}` where no variable has that name: published packs write both. */
  #fragmentOf(hole: Hole): string | undefined {
    const name = fragmentName(hole);
    if (name !== undefined) return hole.path.slice(1).join(".");
    const bare = hole.path.length === 1 ? (hole.path[0] as string) : undefined;
    if (bare === undefined || bare === "workflow_context") return undefined;
    if (this.#variables.has(bare) || this.#declared.has(bare)) return undefined;
    return Object.hasOwn(this.#program.fragments, bare) ? bare : undefined;
  }

  #include(name: string, hole: Hole, chain: readonly string[]): void {
    const text = ownOf(this.#program.fragments, name);
    if (text === undefined || chain.includes(name) || chain.length >= DEPTH_MAX || !this.#affords(text)) {
      this.#miss(hole);
    } else {
      this.write(text, { kind: "fragment", name }, [...chain, name]);
    }
  }

  #affords(text: string): boolean {
    this.#includes++;
    this.#includedText += text.length;
    return this.#includes <= INCLUDES_MAX && this.#includedText <= INCLUDED_TEXT_MAX;
  }

  #substitute(hole: Hole): void {
    const found = this.#lookUp(hole);
    if (found === undefined) this.#miss(hole);
    else this.#add(asText(found.value), { kind: found.kind, name: nameOf(hole) });
  }

  #lookUp(hole: Hole): { readonly value: Json; readonly kind: PartSource["kind"] } | undefined {
    const artifact = artifactName(hole);
    if (artifact !== undefined) {
      const value = follow(this.#request.artifactOf(artifact), hole.path.slice(2));
      return value === undefined ? undefined : { value, kind: "artifact" };
    }
    const [name, ...rest] = hole.path as readonly [string, ...(string | number)[]];
    if (name === "workflow_context" && rest.length === 0) {
      const { workflowContext } = this.#request;
      return workflowContext === null ? undefined : { value: workflowContext, kind: "workflow_context" };
    }
    const variable = this.#variables.get(name);
    const value = follow(variable?.value, rest);
    return value === undefined ? undefined : { value, kind: variable?.isDefault ? "default" : "variable" };
  }

  #miss(hole: Hole): void {
    const name = nameOf(hole);
    this.#missing.add(name);
    this.#add("", { kind: "missing", name });
  }

  /** Neighbouring text of one template is one part. */
  #add(text: string, source: PartSource): void {
    const last = this.#parts.at(-1);
    const plain = source.kind === "template" || source.kind === "fragment";
    if (plain && last?.source.kind === source.kind && last.source.name === source.name) {
      this.#parts[this.#parts.length - 1] = { text: last.text + text, source };
    } else {
      this.#parts.push({ text, source });
    }
  }
}

function follow(start: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  let value = start;
  for (const part of path) value = get(value, part);
  return value;
}

const nameOf = ({ path }: Hole): string =>
  path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join("");

/** Strings as they are, other scalars as text, the rest as JSON. */
function asText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
