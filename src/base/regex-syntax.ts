// Reads a regular expression into a tree, for judging how it matches. It is lenient: flags in groups are
// skipped and what only narrows a match without consuming text is one kind of node. A pattern it cannot read
// has no tree.

/** Inclusive ranges of code points, in order and apart from each other. */
export type CharSet = readonly (readonly [number, number])[];

export type Pattern =
  | { readonly kind: "set"; readonly set: CharSet }
  /** Consumes nothing and may fail: `$`, `\b`, look-around; a back-reference is treated alike. */
  | { readonly kind: "assert" }
  | { readonly kind: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly kind: "choice"; readonly options: readonly Pattern[] }
  | { readonly kind: "repeat"; readonly body: Pattern; readonly min: number; readonly max: number };

interface ParsedPattern {
  readonly main: Pattern;
  /** Bodies of look-arounds: matched on their own, wherever they stand. */
  readonly asides: readonly Pattern[];
}

const LENGTH_MAX = 10_000;
const DEPTH_MAX = 100;
const LAST_POINT = 0x10ffff;

export function parsePattern(text: string): ParsedPattern | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  try {
    const reader = new Reader(text);
    const main = reader.choice(0);
    return reader.atEnd ? { main, asides: reader.asides } : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Unreadable extends Error {}

const nothing: Pattern = { kind: "sequence", parts: [] };
const assertion: Pattern = { kind: "assert" };

class Reader {
  readonly asides: Pattern[] = [];
  readonly #points: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#points = [...text];
  }

  get atEnd(): boolean {
    return this.#at >= this.#points.length;
  }

  choice(depth: number): Pattern {
    if (depth > DEPTH_MAX) throw new Unreadable();
    const options = [this.#sequence(depth)];
    while (this.#take("|")) options.push(this.#sequence(depth));
    return options.length === 1 ? (options[0] as Pattern) : { kind: "choice", options };
  }

  #sequence(depth: number): Pattern {
    const parts: Pattern[] = [];
    while (!this.atEnd && this.#peek() !== "|" && this.#peek() !== ")") parts.push(this.#quantified(depth));
    return parts.length === 1 ? (parts[0] as Pattern) : { kind: "sequence", parts };
  }

  #quantified(depth: number): Pattern {
    const body = this.#atom(depth);
    const count = this.#quantifier();
    if (count === undefined) return body;
    this.#take("?");
    if (this.#quantifier() !== undefined) throw new Unreadable();
    return { kind: "repeat", body, ...count };
  }

  #quantifier(): { min: number; max: number } | undefined {
    if (this.#take("*")) return { min: 0, max: Infinity };
    if (this.#take("+")) return { min: 1, max: Infinity };
    if (this.#take("?")) return { min: 0, max: 1 };
    if (this.#peek() !== "{") return undefined;
    const match = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.#points.slice(this.#at, this.#at + 24).join(""));
    if (match === null) return undefined;
    this.#at += match[0].length;
    const min = Number(match[1]);
    if (match[2] === undefined) return { min, max: min };
    return { min, max: match[3] === "" ? Infinity : Number(match[3]) };
  }

  #atom(depth: number): Pattern {
    const point = this.#next();
    switch (point) {
      case "(":
        return this.#group(depth);
      case "[":
        return { kind: "set", set: this.#class() };
      case ".":
        return { kind: "set", set: anyButLineEnd };
      case "^":
        return nothing;
      case "$":
        return assertion;
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw new Unreadable();
      default:
        return { kind: "set", set: single(point) };
    }
  }

  #group(depth: number): Pattern {
    const aside = this.#groupHead();
    if (aside === "flags only") return nothing;
    const body = this.choice(depth + 1);
    if (!this.#take(")")) throw new Unreadable();
    if (aside === "group") return body;
    this.asides.push(body);
    return assertion;
  }

  #groupHead(): "group" | "aside" | "flags only" {
    if (!this.#take("?")) return "group";
    const head = this.#points.slice(this.#at, this.#at + 80).join("");
    const match = /^(?:([=!]|<[=!])|:|P?<[A-Za-z_$][\w$]*>|[a-zA-Z-]+(:|\)))/.exec(head);
    if (match === null) throw new Unreadable();
    this.#at += match[0].length;
    if (match[1] !== undefined) return "aside";
    return match[2] === ")" ? "flags only" : "group";
  }

  #escape(): Pattern {
    const point = this.#next();
    if (point === "b" || point === "B" || /[1-9]/.test(point)) return assertion;
    if (point === "k" && this.#take("<")) {
      while (this.#next() !== ">");
      return assertion;
    }
    return { kind: "set", set: this.#escapedSet(point) };
  }

  #class(): CharSet {
    const negated = this.#take("^");
    const ranges: (readonly [number, number])[] = [];
    while (!this.#take("]")) {
      const from = this.#classAtom();
      const isRange = this.#peek() === "-" && this.#points[this.#at + 1] !== "]" && isSingle(from);
      if (!isRange) {
        ranges.push(...from);
        continue;
      }
      this.#at++;
      const to = this.#classAtom();
      const [low, high] = [from[0]?.[0] ?? 0, to.at(-1)?.[1] ?? 0];
      if (high < low) throw new Unreadable();
      ranges.push([low, high]);
    }
    return negated ? complement(normal(ranges)) : normal(ranges);
  }

  #classAtom(): CharSet {
    const point = this.#next();
    if (point !== "\\") return single(point);
    const escaped = this.#next();
    return escaped === "b" ? [[8, 8]] : this.#escapedSet(escaped);
  }

  #escapedSet(point: string): CharSet {
    const known = escapes.get(point);
    if (known !== undefined) return known;
    if (point === "x") return this.#hex(/^[0-9a-fA-F]{2}/, point);
    if (point === "u") return this.#hex(/^(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})/, point);
    if (point === "c") return single(String.fromCodePoint((this.#next().codePointAt(0) as number) % 32));
    if ((point === "p" || point === "P") && this.#peek() === "{") return this.#property(point === "P");
    return single(point);
  }

  #hex(form: RegExp, letter: string): CharSet {
    const match = form.exec(this.#points.slice(this.#at, this.#at + 8).join(""));
    if (match === null) return single(letter);
    this.#at += match[0].length;
    const value = Number.parseInt(match[0].replace(/[{}]/g, ""), 16);
    return [[value, value]];
  }

  #property(negated: boolean): CharSet {
    let name = "";
    while (this.#peek() !== "}") name += this.#next();
    this.#at++;
    const set = properties.get(name.slice(1).replace(/^.*=/, "").slice(0, 1)) ?? [];
    return negated ? complement(set) : set;
  }

  #peek(): string | undefined {
    return this.#points[this.#at];
  }

  #next(): string {
    const point = this.#points[this.#at++];
    if (point === undefined) throw new Unreadable();
    return point;
  }

  #take(point: string): boolean {
    if (this.#peek() !== point) return false;
    this.#at++;
    return true;
  }
}

const single = (point: string): CharSet => {
  const value = point.codePointAt(0) as number;
  return [[value, value]];
};

const isSingle = (set: CharSet): boolean => set.length === 1 && set[0]?.[0] === set[0]?.[1];

function normal(ranges: readonly (readonly [number, number])[]): CharSet {
  const merged: [number, number][] = [];
  for (const [low, high] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return merged;
}

function complement(set: CharSet): CharSet {
  const rest: [number, number][] = [];
  let from = 0;
  for (const [low, high] of set) {
    if (low > from) rest.push([from, low - 1]);
    from = high + 1;
  }
  if (from <= LAST_POINT) rest.push([from, LAST_POINT]);
  return rest;
}

function chars(...parts: readonly (string | readonly [string, string])[]): CharSet {
  const point = (text: string) => text.codePointAt(0) as number;
  return normal(
    parts.map((part) =>
      typeof part === "string" ? [point(part), point(part)] : [point(part[0]), point(part[1])],
    ),
  );
}

const digits = chars(["0", "9"]);
const words = chars(["0", "9"], ["A", "Z"], ["a", "z"], "_");
const spaces = chars(
  ["\t", "\r"],
  " ",
  "\u00a0",
  "\u1680",
  ["\u2000", "\u200a"],
  "\u2028",
  "\u2029",
  "\u202f",
  "\u3000",
  "\ufeff",
);
const anyButLineEnd = complement(chars("\n", "\r", "\u2028", "\u2029"));

const escapes: ReadonlyMap<string, CharSet> = new Map([
  ["d", digits],
  ["D", complement(digits)],
  ["w", words],
  ["W", complement(words)],
  ["s", spaces],
  ["S", complement(spaces)],
  ["n", chars("\n")],
  ["r", chars("\r")],
  ["t", chars("\t")],
  ["f", chars("\f")],
  ["v", chars("\v")],
  ["0", chars("\0")],
]);

/** Unicode properties by the first letter of their name, cut down to common characters of each. */
const properties: ReadonlyMap<string, CharSet> = new Map([
  ["L", chars(["A", "Z"], ["a", "z"], ["\u00c0", "\u024f"])],
  ["A", chars(["A", "Z"], ["a", "z"], ["\u00c0", "\u024f"])],
  ["N", digits],
  ["P", chars(["!", "#"], ["%", "*"], [",", "/"], ":", ";", "?", "@", ["[", "]"], "_", "{", "}")],
  ["S", chars("$", "+", ["<", ">"], "^", "`", "|", "~")],
  ["Z", chars(" ", "\u00a0")],
]);
