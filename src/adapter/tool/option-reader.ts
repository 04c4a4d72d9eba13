// Reads the options of a binding: every mistake is collected with its place, unknown keys with a suggestion.

import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";

export interface OptionProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export class OptionReader {
  readonly problems: OptionProblem[];
  readonly #value: JsonObject;
  readonly #path: readonly (string | number)[];
  readonly #read = new Set<string>();

  constructor(value: JsonObject, path: readonly (string | number)[], problems: OptionProblem[] = []) {
    this.#value = value;
    this.#path = path;
    this.problems = problems;
  }

  text(key: string): string | undefined {
    return this.#typed(key, "a text", (value) => (typeof value === "string" ? value : undefined));
  }

  /** Reports a text that is missing, and gives an empty one. */
  neededText(key: string): string {
    const text = this.text(key);
    if (text === undefined && this.#value[key] === undefined) this.#say([], `\`${key}\` is missing`);
    return text ?? "";
  }

  oneOf<T extends string>(key: string, allowed: readonly T[]): T | undefined {
    const text = this.text(key);
    if (text === undefined || allowed.includes(text as T)) return text as T | undefined;
    const meant = suggest(text, allowed);
    const hint = meant === undefined ? `expected one of ${allowed.join(", ")}` : `did you mean \`${meant}\`?`;
    this.#say([key], `\`${text}\` is not known here (${hint})`);
    return undefined;
  }

  /** A number of at least `least` and at most `most`. */
  number(
    key: string,
    { least, most }: { readonly least: number; readonly most: number },
  ): number | undefined {
    return this.#typed(key, `a number from ${least} to ${most}`, (value) =>
      typeof value === "number" && value >= least && value <= most ? value : undefined,
    );
  }

  flag(key: string): boolean | undefined {
    return this.#typed(key, "true or false", (value) => (typeof value === "boolean" ? value : undefined));
  }

  texts(key: string): readonly string[] | undefined {
    return this.#typed(key, "a list of texts", (value) =>
      Array.isArray(value) && value.every((one) => typeof one === "string")
        ? (value as readonly string[])
        : undefined,
    );
  }

  object(key: string): JsonObject | undefined {
    return this.#typed(key, "a mapping", (value) => (isObject(value) ? value : undefined));
  }

  /** A mapping with options of its own; they are read with the reader that is returned. */
  section(key: string): OptionReader | undefined {
    const value = this.object(key);
    return value && new OptionReader(value, [...this.#path, key], this.problems);
  }

  /** A value the caller looks at itself. */
  any(key: string): Json | undefined {
    this.#read.add(key);
    return Object.hasOwn(this.#value, key) ? this.#value[key] : undefined;
  }

  wrong(key: string, message: string): void {
    this.#say([key], message);
  }

  /** A mistake of the mapping as a whole. */
  wrongWhole(message: string): void {
    this.#say([], message);
  }

  /** Called last: reports keys nobody asked for. */
  end(): void {
    for (const key of Object.keys(this.#value)) {
      if (this.#read.has(key)) continue;
      const known = [...this.#read];
      const meant = suggest(key, known);
      const hint = meant === undefined ? `expected one of ${known.join(", ")}` : `did you mean \`${meant}\`?`;
      this.#say([key], `unknown key \`${key}\` (${hint})`);
    }
  }

  #typed<T>(key: string, expected: string, read: (value: Json) => T | undefined): T | undefined {
    const value = this.any(key);
    if (value === undefined || value === null) return undefined;
    const result = read(value);
    if (result === undefined) this.#say([key], `\`${key}\` is ${expected}`);
    return result;
  }

  #say(path: readonly (string | number)[], message: string): void {
    this.problems.push({ path: [...this.#path, ...path], message });
  }
}
