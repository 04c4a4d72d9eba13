// A text inside a scalar of another file: offsets of the inner text to offsets of the file around it.

import { countUpTo } from "./line-index.ts";
import type { Entry, Node, ScalarNode, Span } from "./tree.ts";

type ToOuter = (offset: number) => number;

/** Exact for literal blocks, which can be edited; elsewhere exact for everything but white space. */
export function outerOffsets(scalar: ScalarNode, text: string): ToOuter {
  const value = String(scalar.value);
  return scalar.style === "literal" ? byLine(scalar, value, text) : byCharacter(scalar, value, text);
}

export const moveSpan = (span: Span, toOuter: ToOuter): Span => {
  const start = toOuter(span.start);
  return { start, end: Math.max(start, toOuter(span.end)) };
};

export function moveNode(node: Node, toOuter: ToOuter): Node {
  const span = moveSpan(node.span, toOuter);
  if (node.kind === "scalar") return { ...node, span };
  if (node.kind === "list")
    return { ...node, span, items: node.items.map((item) => moveNode(item, toOuter)) };
  const entries = node.entries.map(
    (entry): Entry => ({
      ...entry,
      keySpan: moveSpan(entry.keySpan, toOuter),
      value: moveNode(entry.value, toOuter),
    }),
  );
  return { ...node, span, entries };
}

/** Every line of a literal block is a line of the file without its first `indent` spaces. */
function byLine(scalar: ScalarNode, value: string, text: string): ToOuter {
  const inner = lineStarts(value);
  const outer: number[] = [];
  let at = nextLine(text, scalar.span.start);
  for (let i = 0; i < inner.length; i++) {
    outer.push(at);
    at = nextLine(text, at);
  }
  const indent = indentOf(value, text, { inner, outer });
  const ends = outer.map((start) => lineEnd(text, start));
  return (offset) => {
    const line = Math.max(0, countUpTo(inner, offset) - 1);
    const start = outer[line] as number;
    return Math.min(start + indent + offset - (inner[line] as number), ends[line] as number);
  };
}

interface LinePairs {
  readonly inner: readonly number[];
  readonly outer: readonly number[];
}

/** By how much the first line with content is shorter inside than outside, however it was indented. */
function indentOf(value: string, text: string, { inner, outer }: LinePairs): number {
  for (const [line, start] of inner.entries()) {
    const from = outer[line] as number;
    const length = lineEnd(value, start) - start;
    if (length > 0) return Math.max(0, lineEnd(text, from) - from - length);
  }
  return 0;
}

/**
 * Folding and indentation change only white space, so the other characters follow each other in value and
 * source alike; escapes are read as double quotes have them.
 */
function byCharacter(scalar: ScalarNode, value: string, text: string): ToOuter {
  const offsets = new Uint32Array(value.length + 1);
  const { style, span } = scalar;
  let at = contentStart(scalar, text);
  for (let i = 0; i < value.length; i++) {
    const wanted = value.charAt(i);
    let piece = pieceAt(text, at, style);
    while (at < span.end && isPassedOver(piece.value, wanted)) {
      at += piece.length;
      piece = pieceAt(text, at, style);
    }
    offsets[i] = Math.min(at, span.end);
    if (piece.value === wanted) at += piece.length;
  }
  offsets[value.length] = Math.min(at, span.end);
  return (offset) => offsets[Math.max(0, Math.min(offset, value.length))] as number;
}

/** Behind the quote, or on the line after the `>` of a folded block. */
function contentStart({ style, span }: ScalarNode, text: string): number {
  if (style === "folded") return nextLine(text, span.start);
  return style === "plain" ? span.start : span.start + 1;
}

/** White space the value does not have here, or a mark that stands for nothing. */
function isPassedOver(found: string, wanted: string): boolean {
  if (found === wanted) return false;
  return found === "" || (isBlank(found) && !isBlank(wanted));
}

const isBlank = (char: string): boolean => char === " " || char === "\n" || char === "\t" || char === "\r";

/** One character of the value, or none where the source has something that stands for nothing. */
interface Piece {
  readonly value: string;
  readonly length: number;
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["0", "\0"],
  ["a", "\u0007"],
  ["e", "\u001b"],
  ["N", "\u0085"],
  ["_", "\u00a0"],
  ["L", "\u2028"],
  ["P", "\u2029"],
]);
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

function pieceAt(text: string, at: number, style: ScalarNode["style"]): Piece {
  const char = text.charAt(at);
  if (style === "single" && char === "'") return { value: "'", length: 2 };
  if (style !== "double" || char !== "\\") return { value: char, length: 1 };
  const next = text.charAt(at + 1);
  if (/\s/.test(next) && next !== " " && next !== "\t") return { value: "", length: 2 };
  const digits = HEX_DIGITS.get(next);
  if (digits === undefined) return { value: NAMED.get(next) ?? next, length: 2 };
  const code = Number.parseInt(text.slice(at + 2, at + 2 + digits), 16);
  // A character beyond the first plane is two units of the value; the second one finds no piece of its own.
  const value = code <= 0x10ffff ? String.fromCodePoint(code).charAt(0) : "";
  return { value, length: 2 + digits };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let i = text.indexOf("\n"); i !== -1; i = text.indexOf("\n", i + 1)) starts.push(i + 1);
  return starts;
}

function nextLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at + 1;
}

/** Before the line end, which may be CR LF. */
function lineEnd(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  if (newline === -1) return text.length;
  return newline > from && text[newline - 1] === "\r" ? newline - 1 : newline;
}
