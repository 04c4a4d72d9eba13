// Where a part of a scalar's value stands in the source. Folding, indentation and block headers touch white
// space only, so the other characters of a value stand in the source in the same order; they are matched one
// by one, escapes decoded. Where they do not match (an alias expanded inside a quoted manifest), there is no
// place.

import type { Path } from "../../../base/json.ts";
import type { Edit } from "../../diagnostic.ts";
import { type Node, nodeAt, type ScalarNode } from "../../read/tree.ts";
import type { TemplateUse } from "../../template-uses.ts";
import type { Place } from "../rule.ts";

interface Source {
  readonly root: Node;
  readonly text: string;
}

/** A part of a scalar's value, as offsets into the value. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** The place of a placeholder. */
export function placeOfUse(source: Source, { path, hole }: TemplateUse): Place {
  return placeInText(source, path, { start: hole.start, end: hole.start + hole.raw.length });
}

/**
 * Replaces a part of a text; `written` must need no escapes. No edit where the part's place cannot be
 * told.
 */
export function editInText(
  source: Source,
  path: Path,
  { part, written }: { part: Part; written: string },
): readonly Edit[] {
  const { within } = placeInText(source, path, part);
  return within === undefined ? [] : [{ ...within, text: written }];
}

/** The place of `value.slice(start, end)` of the text at `path`; the whole value where it cannot be told. */
export function placeInText({ root, text }: Source, path: Path, part: Part): Place {
  const node = nodeAt(root, path);
  if (node?.kind !== "scalar" || typeof node.value !== "string") return { path, on: "value" };
  const offsets = offsetsOf(text, node, node.value);
  const first = offsets[part.start] ?? UNKNOWN;
  const last = offsets[part.end - 1] ?? UNKNOWN;
  if (first === UNKNOWN || last === UNKNOWN) return { path, on: "value" };
  return { path, on: "value", within: { start: first, end: last + 1 } };
}

/** White space has no offset of its own. */
const UNKNOWN = -1;
const known = new WeakMap<ScalarNode, Int32Array>();

function offsetsOf(text: string, node: ScalarNode, value: string): Int32Array {
  const before = known.get(node);
  if (before !== undefined) return before;
  const offsets = match(text, node, value);
  known.set(node, offsets);
  return offsets;
}

function match(text: string, node: ScalarNode, value: string): Int32Array {
  const offsets = new Int32Array(value.length).fill(UNKNOWN);
  let at = contentStart(text, node);
  for (let i = 0; i < value.length; i++) {
    if (isSpace(value, i)) continue;
    let unit = unitAt(text, at, node);
    while (at < node.span.end && isSpace(unit.decoded, 0)) {
      at += unit.length;
      unit = unitAt(text, at, node);
    }
    if (at >= node.span.end || !value.startsWith(unit.decoded, i)) return offsets;
    offsets[i] = at;
    at += unit.length;
    i += unit.decoded.length - 1;
  }
  return offsets;
}

const isSpace = (text: string, at: number): boolean => text.charCodeAt(at) <= 0x20;

function contentStart(text: string, { style, span }: ScalarNode): number {
  if (style === "double" || style === "single") return span.start + 1;
  if (style === "plain") return span.start;
  const header = text.indexOf("\n", span.start);
  return header === -1 ? span.end : header + 1;
}

interface Unit {
  readonly decoded: string;
  readonly length: number;
}

function unitAt(text: string, at: number, { style }: ScalarNode): Unit {
  const char = text[at] ?? "";
  if (style === "single" && char === "'") return { decoded: "'", length: 2 };
  if (style === "double" && char === "\\") return escapeAt(text, at);
  return { decoded: char, length: 1 };
}

/**
 * What YAML and JSON let stand behind a backslash, besides hexadecimal numbers and characters for
 * themselves.
 */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["a", "\x07"],
  ["b", "\b"],
  ["t", "\t"],
  ["n", "\n"],
  ["v", "\v"],
  ["f", "\f"],
  ["r", "\r"],
  ["e", "\x1b"],
  ["N", "\x85"],
  ["_", "\xa0"],
  ["L", "\u2028"],
  ["P", "\u2029"],
]);
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

function escapeAt(text: string, at: number): Unit {
  const letter = text[at + 1] ?? "";
  const digits = HEX_DIGITS.get(letter);
  if (digits === undefined) return { decoded: ESCAPES.get(letter) ?? letter, length: 2 };
  const code = Number.parseInt(text.slice(at + 2, at + 2 + digits), 16);
  const decoded = code <= 0x10ffff ? String.fromCodePoint(code) : letter;
  return { decoded, length: 2 + digits };
}
