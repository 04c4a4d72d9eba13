// The arguments of a call, read by our names. Packs name their parameters themselves, so every argument has
// the spellings models and packs use, and a binding can add its own with `args: {ours: theirs}`.

import { get, isObject, type Json } from "../../base/json.ts";
import type { OptionReader } from "./option-reader.ts";
import { ToolProblem } from "./tool-problem.ts";

/** Our name of each argument with its other spellings, the likeliest first. */
export type Spellings = Readonly<Record<string, readonly string[]>>;

export type ReadArguments = (args: Json) => CallArguments;

/** Reads the option `args` and returns how calls are read. */
export function argumentReader(reader: OptionReader, spellings: Spellings): ReadArguments {
  const names = new Map(Object.entries(spellings).map(([ours, others]) => [ours, [ours, ...others]]));
  for (const [ours, theirs] of Object.entries(reader.object("args") ?? {})) {
    if (!names.has(ours)) {
      const known = [...names.keys()].join(", ");
      reader.wrong("args", `\`${ours}\` is not an argument of this tool (expected one of ${known})`);
    } else if (typeof theirs !== "string") {
      reader.wrong("args", `\`${ours}\` is mapped to the name of a parameter, which is a text`);
    } else names.set(ours, [theirs]);
  }
  return (args) => new CallArguments(args, names);
}

export class CallArguments {
  readonly #args: Json;
  readonly #names: ReadonlyMap<string, readonly string[]>;

  constructor(args: Json, names: ReadonlyMap<string, readonly string[]>) {
    this.#args = args;
    this.#names = names;
  }

  any(name: string): Json | undefined {
    if (!isObject(this.#args)) return undefined;
    for (const spelling of this.#names.get(name) ?? [name]) {
      const value = get(this.#args, spelling);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }

  text(name: string): string | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "string") return value;
    throw this.#wrong(name, "a text");
  }

  neededText(name: string): string {
    return this.text(name) ?? this.#missing(name);
  }

  needed(name: string): Json {
    return this.any(name) ?? this.#missing(name);
  }

  flag(name: string): boolean | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
    throw this.#wrong(name, "true or false");
  }

  /** A whole number; models write it as a text at times. */
  count(
    name: string,
    { least, most }: { readonly least: number; readonly most: number },
  ): number | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= least && number <= most)
      return number;
    throw this.#wrong(name, `a whole number from ${least} to ${most}`);
  }

  #missing(name: string): never {
    throw new ToolProblem("bad_arguments", `\`${this.#spelt(name)}\` is missing`);
  }

  #wrong(name: string, expected: string): ToolProblem {
    return new ToolProblem("bad_arguments", `\`${this.#spelt(name)}\` is not ${expected}`);
  }

  #spelt(name: string): string {
    return this.#names.get(name)?.[0] ?? name;
  }
}
