// One mapping of a configuration, read key by key. What is wrong is collected with its path, and keys that
// nobody asked for are reported at the end, with the name that was probably meant.

import { durationMs } from "../../base/duration.ts";
import { get, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { Places } from "./places.ts";

/** What was found while reading; texts without a full stop. */
export interface Findings {
  readonly errors: string[];
  readonly warnings: string[];
  /** Keys nobody knows: warnings, or errors where the configuration is read strictly. */
  readonly unknown: string[];
  /** Where everything stands. */
  readonly places: Places;
}

export const noFindings = (): Findings => ({ errors: [], warnings: [], unknown: [], places: new Places() });

export class Section {
  readonly path: string;
  readonly value: JsonObject;
  readonly findings: Findings;
  readonly #asked = new Set<string>();
  readonly #place: string;

  constructor(value: Json | undefined, path: string, findings: Findings, place = "") {
    this.path = path;
    this.findings = findings;
    this.#place = findings.places.of(value) || place;
    this.value = isObject(value) ? value : {};
    if (value !== undefined && value !== null && !isObject(value)) this.wrong(undefined, "is not a mapping");
  }

  /** Null counts as absent. */
  get(key: string): Json | undefined {
    this.#asked.add(key);
    return get(this.value, key) ?? undefined;
  }

  section(key: string): Section {
    return new Section(this.get(key), this.at(key), this.findings, this.#placeOf(key));
  }

  /** The items of a list, each a mapping. */
  sections(key: string): readonly Section[] {
    const list = this.list(key);
    const { places } = this.findings;
    return list.map((one, index) => {
      return new Section(one, `${this.at(key)}[${index}]`, this.findings, places.of(list, index));
    });
  }

  text<T extends string | undefined>(key: string, fallback: T): string | T {
    const value = this.get(key);
    if (value === undefined) return fallback;
    if (typeof value === "string" && value !== "") return value;
    this.wrong(key, "is not a text");
    return fallback;
  }

  choice<T extends string>(key: string, of: readonly [T, ...T[]]): T {
    const value = this.get(key) ?? of[0];
    const found = of.find((one) => one === value);
    if (found === undefined) this.wrong(key, `is not one of ${of.join(", ")}`);
    return found ?? of[0];
  }

  /** A variable's value is a text: `true` and `false` are read from texts too. */
  flag(key: string, fallback: boolean): boolean {
    const value = this.get(key) ?? fallback;
    if (value === true || value === "true") return true;
    if (value !== false && value !== "false") this.wrong(key, "is neither true nor false");
    return value === false || value === "false" ? false : fallback;
  }

  count(key: string, { fallback, least }: { fallback: number; least: number }): number {
    const value = this.get(key) ?? fallback;
    const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isSafeInteger(number) && number >= least) return number;
    this.wrong(key, `is not a whole number from ${least} on`);
    return fallback;
  }

  duration(key: string, fallback: string): number {
    const value = this.get(key) ?? fallback;
    const ms = typeof value === "string" ? durationMs(value) : undefined;
    if (ms === undefined) this.wrong(key, "is not a time (expected 30s, 5m or 1h30m)");
    return ms ?? durationMs(fallback) ?? 0;
  }

  list(key: string): readonly Json[] {
    const value = this.get(key);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value as readonly Json[];
    this.wrong(key, "is not a list");
    return [];
  }

  texts(key: string): readonly string[] {
    return this.list(key).filter((one, index) => {
      if (typeof one === "string" && one !== "") return true;
      this.wrong(`${key}[${index}]`, "is not a text");
      return false;
    }) as readonly string[];
  }

  /** The mapping's own keys, each asked for. */
  keys(): readonly string[] {
    const keys = Object.keys(this.value);
    for (const key of keys) this.#asked.add(key);
    return keys;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  at(key: string): string {
    return this.path === "" ? key : `${this.path}.${key}`;
  }

  wrong(key: string | undefined, why: string): void {
    const path = key === undefined ? this.path : this.at(key);
    this.findings.errors.push(`${this.#placeOf(key)}\`${path}\` ${why}`);
  }

  warn(key: string, why: string): void {
    this.findings.warnings.push(`${this.#placeOf(key)}\`${this.at(key)}\` ${why}`);
  }

  /** Of a key that is missing, the mapping's. */
  #placeOf(key: string | undefined): string {
    const own = key !== undefined && !Object.hasOwn(this.value, key) ? key.split(/[.[]/, 1)[0] : key;
    return this.findings.places.of(this.value, own) || this.#place;
  }

  /** Call when everything that is known was asked for. */
  done(): void {
    for (const key of Object.keys(this.value)) {
      if (this.#asked.has(key)) continue;
      const meant = suggest(key, this.#asked);
      const hint = meant === undefined ? "" : ` (did you mean \`${meant}\`?)`;
      this.findings.unknown.push(
        `${this.#placeOf(key)}\`${this.at(key)}\` is not a key of the configuration${hint}`,
      );
    }
  }
}
