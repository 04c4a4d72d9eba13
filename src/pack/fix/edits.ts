// Text edits for fixes, made from positions so that comments, order and quoting elsewhere keep their bytes.
// Each function returns no edit where it cannot make a sound one; the finding is then shown without a fix.

import type { Path } from "../../base/json.ts";
import type { Edit } from "../diagnostic.ts";
import {
  type Entry,
  entryAt,
  type MapNode,
  type Node,
  nodeAt,
  type ScalarStyle,
  type Span,
} from "../read/tree.ts";

/** Replaces a scalar by another text or number, quoted as the old one was where that is possible. */
export function replaceScalar(
  root: Node,
  text: string,
  path: Path,
  value: string | number | boolean,
): readonly Edit[] {
  const node = nodeAt(root, path);
  if (node?.kind !== "scalar" || node.style === "literal" || node.style === "folded") return [];
  const written =
    typeof value === "string" ? quoted(value, isJsonText(root, text) ? "double" : node.style) : String(value);
  return [{ ...node.span, text: written }];
}

/** Renames a key, quoted as before. */
export function renameKey(root: Node, text: string, path: Path, name: string): readonly Edit[] {
  const entry = entryAt(root, path);
  if (entry === undefined) return [];
  const style = isJsonText(root, text) ? "double" : entry.keyStyle;
  return [{ ...entry.keySpan, text: quoted(name, style) }];
}

/** Removes a map entry or list item with its separator. The last entry of a block mapping cannot go. */
export function removeAt(root: Node, text: string, path: Path): readonly Edit[] {
  const parent = nodeAt(root, path.slice(0, -1));
  if (parent === undefined || parent.kind === "scalar") return [];
  const spans = parent.kind === "map" ? parent.entries.map(entrySpan) : parent.items.map((item) => item.span);
  const index =
    parent.kind === "map"
      ? parent.entries.findIndex((entry) => entry.key === path.at(-1))
      : typeof path.at(-1) === "number"
        ? (path.at(-1) as number)
        : -1;
  const span = spans[index];
  if (span === undefined) return [];
  if (parent.flow) return [removeFlowItem(text, spans, index)];
  return spans.length === 1 ? [] : removeBlockLines(text, span, parent.kind);
}

/** Adds `key: value` to a map; `value` is written as JSON, which both syntaxes read. */
export function addEntry(root: Node, text: string, path: Path, key: string, value: string): readonly Edit[] {
  const map = nodeAt(root, path);
  if (map?.kind !== "map") return [];
  const last = map.entries.at(-1);
  if (last === undefined)
    return [
      { ...map.span, text: `{ ${isJsonText(root, text) ? JSON.stringify(key) : plainKey(key)}: ${value} }` },
    ];
  if (map.flow) return [addToFlow(root, text, map, { key, value })];
  const start = lineStart(text, (map.entries[0] as Entry).keySpan.start);
  const indent = text.slice(start, (map.entries[0] as Entry).keySpan.start);
  // A map that begins behind a dash or another key is indented by the width of what stands before it.
  const padding = indent.replace(/[^ \t]/g, " ");
  const end = endOfEntry(text, last);
  const newline = text[end - 1] === "\n" || end === 0 ? "" : lineEnd(text);
  return [{ start: end, end, text: `${newline}${padding}${plainKey(key)}: ${value}${lineEnd(text)}` }];
}

function addToFlow(
  root: Node,
  text: string,
  map: MapNode,
  { key, value }: { key: string; value: string },
): Edit {
  const last = map.entries.at(-1) as Entry;
  const at = last.value.span.end;
  const name = isJsonText(root, text) ? JSON.stringify(key) : plainKey(key);
  const before = text.slice(lineStart(text, last.keySpan.start), last.keySpan.start);
  const alone = /^\s*$/.test(before);
  return {
    start: at,
    end: at,
    text: alone ? `,${lineEnd(text)}${before}${name}: ${value}` : `, ${name}: ${value}`,
  };
}

function entrySpan(entry: Entry): Span {
  return { start: entry.keySpan.start, end: Math.max(entry.keySpan.end, entry.value.span.end) };
}

/** Takes the comma behind the item with it, or the one before it for the last item. */
function removeFlowItem(text: string, spans: readonly Span[], index: number): Edit {
  const span = spans[index] as Span;
  const next = spans[index + 1];
  const previous = spans[index - 1];
  if (next !== undefined) return { start: span.start, end: next.start, text: "" };
  if (previous !== undefined) return { start: previous.end, end: span.end, text: "" };
  const comma = /^\s*,/.exec(text.slice(span.end))?.[0].length ?? 0;
  return { start: span.start, end: span.end + comma, text: "" };
}

/**
 * Whole lines, so that no empty line stays behind. A list item goes with its dash; the first entry of a map
 * behind a dash shares its line: none.
 */
function removeBlockLines(text: string, span: Span, parent: "map" | "list"): readonly Edit[] {
  const start = lineStart(text, span.start);
  const before = text.slice(start, span.start);
  if (parent === "map" ? before.trim() !== "" : !/^\s*-\s+$/.test(before)) return [];
  return [{ start, end: nextLineStart(text, span.end), text: "" }];
}

function endOfEntry(text: string, entry: Entry): number {
  const end = Math.max(entry.keySpan.end, entry.value.span.end);
  return text[end - 1] === "\n" ? end : nextLineStart(text, end);
}

function nextLineStart(text: string, from: number): number {
  if (from > 0 && text[from - 1] === "\n") return from;
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at + 1;
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

const lineEnd = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

/** The document is JSON: what is written into it must be, too. */
function isJsonText(root: Node, text: string): boolean {
  return (
    root.kind === "map" &&
    root.flow &&
    text[root.span.start] === "{" &&
    (root.entries[0]?.keyStyle ?? "double") === "double"
  );
}

/** A key that needs no quotes in YAML under any version, else a quoted one. */
function plainKey(key: string): string {
  return quoted(key, "plain");
}

const SAFE_PLAIN = /^[A-Za-z_][A-Za-z0-9_./-]*$/;
const TRAPS = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;

function quoted(value: string, style: ScalarStyle): string {
  if (style === "double" || style === "literal" || style === "folded") return JSON.stringify(value);
  if (style === "single") return `'${value.replaceAll("'", "''")}'`;
  return SAFE_PLAIN.test(value) && !TRAPS.test(value) ? value : JSON.stringify(value);
}
