// Strict JSON with positions. The YAML parser also reads JSON, but takes `{"a": 1 "b": 2}` for one text value
// and lets comments and trailing commas pass, which other readers of the same file refuse (decision 0001).

import type { Finding } from "../diagnostic.ts";
import { limits, syntaxFinding, tooDeep, tooManyNodes, type Words } from "./limits.ts";
import type { Entry, ListNode, MapNode, Node, ScalarNode } from "./tree.ts";

type Parsed = { readonly ok: true; readonly root: Node } | { readonly ok: false; readonly finding: Finding };

export function parseJson(text: string): Parsed {
  const reader = new JsonReader(text);
  try {
    return { ok: true, root: reader.document() };
  } catch (error) {
    if (error instanceof Stop) return { ok: false, finding: error.finding };
    throw error;
  }
}

/** Leaves the recursion with a finding; never escapes this file. */
class Stop {
  readonly finding: Finding;
  constructor(finding: Finding) {
    this.finding = finding;
  }
}

const LITERALS: ReadonlyMap<string, null | boolean> = new Map<string, null | boolean>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[^\s{}[\],:"']+/y;
const PIECE = /^(?:"[^"\\\r\n]*"|[\ud800-\udbff][\udc00-\udfff]|[^\s{}[\],:"']+)/;
const SPACE = /[ \t\r\n]*/y;
// Everything up to a quote, an escape or a control character, which JSON wants escaped.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const PLAIN = /[^"\\\u0000-\u001f]*/y;

/** `True` and `None` come from another language. */
function helpFor(word: string): string {
  const meant = word === "None" || word === "undefined" ? "null" : word.toLowerCase();
  return LITERALS.has(meant) ? `write \`${meant}\`` : "quote the text, or remove it";
}

interface Expected extends Words {
  /** The bracket that is still open. */
  readonly opened?: { readonly message: string; readonly at: number };
}

const nameOf = (close: string): string => (close === "}" ? "object" : "list");

class JsonReader {
  readonly #text: string;
  #at = 0;
  #nodes = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Node {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
    this.#space();
    if (this.#at >= this.#text.length)
      this.#fail("the file is empty", "a pack is one JSON object", "write a pack");
    const root = this.#value(1);
    this.#space();
    if (this.#at < this.#text.length) {
      this.#expected({
        message: `unexpected ${this.#shown()} after the end of the document`,
        why: "JSON is one value",
        help: "remove it",
      });
    }
    return root;
  }

  #value(depth: number): Node {
    const start = this.#at;
    if (depth > limits.depth) throw new Stop(tooDeep({ start, end: start + 1 }));
    if (++this.#nodes > limits.nodes) throw new Stop(tooManyNodes({ start, end: start + 1 }));
    const char = this.#text[this.#at];
    if (char === "{") return this.#map(depth);
    if (char === "[") return this.#list(depth);
    if (char === '"') return this.#stringNode();
    return this.#literal(start);
  }

  #map(depth: number): MapNode {
    const start = this.#at++;
    const entries: Entry[] = [];
    this.#space();
    while (this.#text[this.#at] !== "}") {
      if (entries.length > 0) this.#comma("}", start);
      this.#notAtEnd("}", start);
      if (this.#text[this.#at] !== '"') {
        this.#expected({
          message: `expected a quoted key, found ${this.#shown()}`,
          why: "keys of a JSON object are texts in double quotes",
          help: "quote it",
        });
      }
      const key = this.#stringNode();
      this.#colon();
      this.#notAtEnd("}", start);
      const value = this.#value(depth + 1);
      entries.push({ key: key.value as string, keySpan: key.span, keyStyle: "double", value });
      this.#space();
    }
    this.#at++;
    return { kind: "map", span: { start, end: this.#at }, flow: true, entries };
  }

  #colon(): void {
    this.#space();
    if (this.#text[this.#at] !== ":") {
      this.#expected({
        message: `expected \`:\` after a key, found ${this.#shown()}`,
        why: "a key is followed by its value",
        help: "add `:`",
      });
    }
    this.#at++;
    this.#space();
  }

  #list(depth: number): ListNode {
    const start = this.#at++;
    const items: Node[] = [];
    this.#space();
    while (this.#text[this.#at] !== "]") {
      if (items.length > 0) this.#comma("]", start);
      this.#notAtEnd("]", start);
      items.push(this.#value(depth + 1));
      this.#space();
    }
    this.#at++;
    return { kind: "list", span: { start, end: this.#at }, flow: true, items };
  }

  #comma(close: string, open: number): void {
    this.#notAtEnd(close, open);
    if (this.#text[this.#at] !== ",") {
      this.#expected({
        message: `expected \`,\` or \`${close}\`, found ${this.#shown()}`,
        why: `the ${nameOf(close)} around it is still open`,
        help: "add a comma, or close it",
        opened: { message: `the ${nameOf(close)} is opened here`, at: open },
      });
    }
    const comma = this.#at++;
    this.#space();
    if (this.#text[this.#at] === close) {
      this.#at = comma;
      this.#fail("trailing comma", "JSON allows none before a closing bracket", "remove the comma");
    }
  }

  #notAtEnd(close: string, open: number): void {
    if (this.#at < this.#text.length) return;
    this.#at = open;
    const why = "the file ends before it is closed";
    this.#fail(`the ${nameOf(close)} opened here is not closed`, why, `add \`${close}\``);
  }

  #stringNode(): ScalarNode {
    const start = this.#at++;
    for (;;) {
      PLAIN.lastIndex = this.#at;
      PLAIN.exec(this.#text);
      this.#at = PLAIN.lastIndex;
      const char = this.#text[this.#at];
      if (char === '"') break;
      if (char === "\\") this.#escape();
      else if (char === undefined || char === "\n" || char === "\r") {
        this.#at = start;
        this.#fail("the text is not closed", 'a quoted text ends with `"` on the same line', 'add `"`');
      } else {
        const code = char.charCodeAt(0).toString(16).padStart(4, "0");
        this.#fail(`control character U+${code} in a text`, "JSON wants it escaped", `write \`\\u${code}\``);
      }
    }
    this.#at++;
    const value = JSON.parse(this.#text.slice(start, this.#at)) as string;
    return { kind: "scalar", span: { start, end: this.#at }, style: "double", value };
  }

  #escape(): void {
    const next = this.#text[this.#at + 1] ?? "";
    if (next === "u" && /^[0-9a-fA-F]{4}$/.test(this.#text.slice(this.#at + 2, this.#at + 6))) {
      this.#at += 6;
    } else if (next !== "" && '"\\/bfnrt'.includes(next)) {
      this.#at += 2;
    } else {
      const why = 'JSON knows \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX';
      const shown = /\s|^$/.test(next) ? "a lone backslash" : `\`\\${next}\``;
      this.#fail(`${shown} is not an escape`, why, "double the backslash");
    }
  }

  #literal(start: number): ScalarNode {
    NUMBER.lastIndex = this.#at;
    WORD.lastIndex = this.#at;
    const word = WORD.exec(this.#text)?.[0] ?? "";
    const number = NUMBER.exec(this.#text)?.[0];
    const value = number !== undefined && number === word ? Number(number) : LITERALS.get(word);
    if (value === undefined) {
      this.#expected({
        message: `expected a value, found ${this.#shown()}`,
        why: "JSON values are quoted text, numbers, true, false, null, lists and objects",
        help: helpFor(word),
      });
    }
    if (typeof value === "number" && !Number.isFinite(value)) {
      this.#fail(`the number ${this.#shown()} is too large`, "no reader can hold it", "write a smaller one");
    }
    this.#at += word.length;
    return { kind: "scalar", span: { start, end: this.#at }, style: "plain", value };
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
  }

  #shown(): string {
    if (this.#at >= this.#text.length) return "the end of the file";
    const piece = this.#piece();
    return `\`${piece.length > 20 ? `${piece.slice(0, 20)}…` : piece}\``;
  }

  /** What stands here, to be shown and underlined: a word, the start of a text, or one character. */
  #piece(): string {
    const rest = this.#text.slice(this.#at, this.#at + 100);
    return PIECE.exec(rest)?.[0] ?? rest.slice(0, 1);
  }

  /** Something else stands here; comments and single quotes get their own words. */
  #expected(words: Expected): never {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    if (rest === "//" || rest === "/*" || rest.startsWith("#")) {
      const help = "remove it, or write the pack as YAML";
      this.#fail("a comment stands here", "JSON has no comments, and other readers refuse them", help);
    }
    if (rest.startsWith("'")) {
      this.#fail("a text in single quotes", "JSON texts have double quotes", "write `\"` instead of `'`");
    }
    this.#fail(words.message, words.why, words.help, words.opened);
  }

  #fail(message: string, why: string, help: string, opened?: Expected["opened"]): never {
    const start = Math.min(this.#at, this.#text.length);
    const finding = syntaxFinding(message, why, help, { start, end: start + this.#piece().length });
    if (opened === undefined) throw new Stop(finding);
    const span = { start: opened.at, end: opened.at + 1 };
    throw new Stop({ ...finding, related: [{ message: opened.message, span, path: [] }] });
  }
}
