// Expressions that choose among lines of a list: `visits > 10 and (status = failed or reason ~ limit)`. Which
// names there are, and of what kind, is the caller's. A wrong expression is told with its place and with what
// would have been right.

import { durationMs } from "./duration.ts";
import { suggest } from "./suggest.ts";

/** `time` is a moment, `span` a length of time; both are compared in milliseconds. */
export type FieldKind = "text" | "number" | "time" | "span";

export type Fields = ReadonlyMap<string, { readonly kind: FieldKind; readonly words?: readonly string[] }>;

/** The value of a field of the line in question; null where it has none. */
export type Lookup = (field: string) => string | number | null;

export interface WhereProblem {
  /** From 0, in the expression. */
  readonly offset: number;
  readonly message: string;
}

export type Where =
  | { readonly ok: true; readonly fits: Fits; readonly needs: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly problem: WhereProblem };

type Fits = (lookup: Lookup) => boolean;

/** Longer expressions, and deeper ones, are refused. */
const LENGTH_MAX = 2_000;
const DEPTH_MAX = 50;

export function parseWhere(text: string, fields: Fields): Where {
  if (text.length > LENGTH_MAX)
    return no(LENGTH_MAX, `the expression is longer than ${LENGTH_MAX} characters (say it shorter)`);
  const parser = new Parser(text, fields);
  try {
    return { ok: true, ...parser.whole() };
  } catch (error) {
    if (error instanceof Wrong) return no(error.offset, error.message);
    throw error;
  }
}

const no = (offset: number, message: string): Where => ({ ok: false, problem: { offset, message } });

/** Leaves the parser; never leaves this file. */
class Wrong extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

interface Test {
  readonly fits: Fits;
  /** Texts that every line that fits has: an index may look them up. */
  readonly needs: ReadonlyMap<string, string>;
}

const NOTHING: ReadonlyMap<string, string> = new Map();

interface Token {
  readonly kind: "word" | "quoted" | "sign" | "end";
  readonly text: string;
  readonly offset: number;
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(!=|>=|<=|==|!~|[=<>~()])|([^\s"'=<>~()!]+))/y;

const SIGNS = ["=", "!=", ">", ">=", "<", "<=", "~", "!~"] as const;
type Sign = (typeof SIGNS)[number];

class Parser {
  readonly #text: string;
  readonly #fields: Fields;
  #at = 0;
  #next: Token;

  constructor(text: string, fields: Fields) {
    this.#text = text;
    this.#fields = fields;
    this.#next = { kind: "end", text: "", offset: 0 };
  }

  whole(): Test {
    this.#advance();
    const test = this.#or(0);
    if (this.#next.kind !== "end")
      throw this.#wrong(`\`${this.#next.text}\` stands where \`and\` or \`or\` was expected`);
    return test;
  }

  #or(depth: number): Test {
    let left = this.#and(depth);
    while (this.#takesWord("or")) {
      const [a, b] = [left, this.#and(depth)];
      left = { fits: (lookup) => a.fits(lookup) || b.fits(lookup), needs: NOTHING };
    }
    return left;
  }

  #and(depth: number): Test {
    let left = this.#one(depth);
    while (this.#takesWord("and")) {
      const [a, b] = [left, this.#one(depth)];
      left = {
        fits: (lookup) => a.fits(lookup) && b.fits(lookup),
        needs: new Map([...a.needs, ...b.needs]),
      };
    }
    return left;
  }

  #one(depth: number): Test {
    if (depth > DEPTH_MAX) throw this.#wrong(`more than ${DEPTH_MAX} brackets stand inside each other`);
    if (this.#takesWord("not")) {
      const test = this.#one(depth + 1);
      return { fits: (lookup) => !test.fits(lookup), needs: NOTHING };
    }
    if (!this.#isSign("(")) return this.#comparison();
    this.#advance();
    const test = this.#or(depth + 1);
    if (!this.#isSign(")")) throw this.#wrong(`${this.#shown()} stands where \`)\` was expected`);
    this.#advance();
    return test;
  }

  #comparison(): Test {
    const name = this.#next;
    if (name.kind !== "word") throw this.#wrong(`${this.#shown()} stands where a name was expected`, "names");
    const field = this.#fields.get(name.text);
    if (field === undefined) {
      const near = suggest(name.text, this.#fields.keys());
      const guess = near === undefined ? "" : `; did you mean \`${near}\`?`;
      throw this.#wrong(`there is no \`${name.text}\`${guess}`, "names");
    }
    this.#advance();
    const sign = this.#sign(name.text);
    const value = this.#next;
    if (value.kind !== "word" && value.kind !== "quoted")
      throw this.#wrong(`${this.#shown()} stands where a value for \`${name.text}\` was expected`);
    const fits = this.#test({ name: name.text, ...field }, sign, value);
    this.#advance();
    const isNeeded = field.kind === "text" && sign === "=";
    return { fits, needs: isNeeded ? new Map([[name.text, value.text]]) : NOTHING };
  }

  #sign(name: string): Sign {
    const { text } = this.#next;
    const sign = SIGNS.find((one) => one === (text === "==" ? "=" : text));
    if (sign === undefined || this.#next.kind !== "sign")
      throw this.#wrong(
        `${this.#shown()} stands where a comparison of \`${name}\` was expected (${SIGNS.join(" ")})`,
      );
    this.#advance();
    return sign;
  }

  #test(
    { name, kind, words }: { name: string; kind: FieldKind; words?: readonly string[] },
    sign: Sign,
    value: Token,
  ): Fits {
    if (kind === "text") {
      if (words !== undefined && (sign === "=" || sign === "!=") && !words.includes(value.text))
        throw this.#wrong(`\`${value.text}\` is no ${name} (known: ${words.join(", ")})`);
      return textTest(name, sign, value.text, () =>
        this.#wrong(`\`${name}\` is a text and has no order (use = != ~ !~)`),
      );
    }
    if (sign === "~" || sign === "!~")
      throw this.#wrong(`\`${name}\` is no text, so nothing is contained in it (use = != > >= < <=)`);
    const wanted = NUMBERS[kind](value.text);
    if (wanted === undefined) throw this.#wrong(`\`${value.text}\` is no ${WANTED[kind]}`);
    return numberTest(name, sign, wanted);
  }

  #isSign(sign: "(" | ")"): boolean {
    return this.#next.kind === "sign" && this.#next.text === sign;
  }

  #takesWord(word: string): boolean {
    const isIt = this.#next.kind === "word" && this.#next.text.toLowerCase() === word;
    if (isIt) this.#advance();
    return isIt;
  }

  #advance(): void {
    TOKEN.lastIndex = this.#at;
    const rest = this.#text.slice(this.#at);
    if (rest.trim() === "") {
      this.#next = { kind: "end", text: "", offset: this.#text.length };
      return;
    }
    const offset = this.#at + (rest.length - rest.trimStart().length);
    const found = TOKEN.exec(this.#text);
    if (found === null) {
      const isQuote = /["']/.test(this.#text[offset] ?? "");
      this.#next = { kind: "end", text: "", offset };
      throw this.#wrong(
        isQuote ? "a quote is not closed" : `\`${this.#text[offset] ?? ""}\` means nothing here`,
      );
    }
    this.#at = TOKEN.lastIndex;
    const [, quoted, sign, word] = found;
    if (quoted !== undefined)
      this.#next = { kind: "quoted", text: quoted.slice(1, -1).replaceAll(/\\(.)/g, "$1"), offset };
    else this.#next = { kind: sign === undefined ? "word" : "sign", text: sign ?? word ?? "", offset };
  }

  #shown(): string {
    return this.#next.kind === "end" ? "the end" : `\`${this.#next.text}\``;
  }

  #wrong(what: string, known?: "names"): Wrong {
    const { offset } = this.#next;
    const names = known === undefined ? "" : ` (known: ${[...this.#fields.keys()].join(", ")})`;
    return new Wrong(offset, `${what}, at character ${offset + 1}${names}`);
  }
}

function textTest(name: string, sign: Sign, value: string, noOrder: () => Wrong): Fits {
  const wanted = value.toLowerCase();
  const textAt = (lookup: Lookup): string => String(lookup(name) ?? "");
  switch (sign) {
    case "=":
      return (lookup) => textAt(lookup) === value;
    case "!=":
      return (lookup) => textAt(lookup) !== value;
    case "~":
      return (lookup) => textAt(lookup).toLowerCase().includes(wanted);
    case "!~":
      return (lookup) => !textAt(lookup).toLowerCase().includes(wanted);
    default:
      throw noOrder();
  }
}

const COMPARE: Readonly<Record<Exclude<Sign, "~" | "!~">, (a: number, b: number) => boolean>> = {
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
};

/** A line without the number fits no comparison of it. */
function numberTest(name: string, sign: Exclude<Sign, "~" | "!~">, wanted: number): Fits {
  const compare = COMPARE[sign];
  return (lookup) => {
    const value = lookup(name);
    return typeof value === "number" && compare(value, wanted);
  };
}

const WANTED: Readonly<Record<Exclude<FieldKind, "text">, string>> = {
  number: "number",
  time: "time (expected 2026-01-31 or 2026-01-31T12:00:00Z)",
  span: "length of time (expected 30s, 15m, 2h, 7d or 1h30m)",
};

const NUMBERS: Readonly<Record<Exclude<FieldKind, "text">, (text: string) => number | undefined>> = {
  number: (text) => (/^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined),
  time: timeOf,
  span: durationMs,
};

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/** A day begins at midnight UTC. */
export function timeOf(text: string): number | undefined {
  if (!TIME.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
