// A document with positions: what both parsers produce and every later phase points into.
// Offsets count UTF-16 units from the start of the source text.

import type { Json, Path } from "../../base/json.ts";
import { put } from "../../base/json.ts";

export interface Span {
  readonly start: number;
  readonly end: number;
}

export type Node = MapNode | ListNode | ScalarNode;

export interface MapNode {
  readonly kind: "map";
  readonly span: Span;
  /** Written with braces, as all of JSON is. */
  readonly flow: boolean;
  readonly entries: readonly Entry[];
}

export interface Entry {
  readonly key: string;
  readonly keySpan: Span;
  readonly keyStyle: ScalarStyle;
  readonly value: Node;
}

export interface ListNode {
  readonly kind: "list";
  readonly span: Span;
  readonly flow: boolean;
  readonly items: readonly Node[];
}

export type ScalarStyle = "plain" | "single" | "double" | "literal" | "folded";

export interface ScalarNode {
  readonly kind: "scalar";
  readonly span: Span;
  readonly style: ScalarStyle;
  readonly value: null | boolean | number | string;
}

/** The plain value. A key that occurs twice keeps its first value; PP103 has reported the second. */
export function toJson(node: Node): Json {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(toJson);
  const object: Record<string, Json> = {};
  for (const entry of node.entries) {
    if (!Object.hasOwn(object, entry.key)) put(object, entry.key, toJson(entry.value));
  }
  return object;
}

/** The node at a path, or undefined. */
export function nodeAt(root: Node, path: Path): Node | undefined {
  let node: Node | undefined = root;
  for (const part of path) {
    if (node === undefined) return undefined;
    node = node.kind === "list" ? listItem(node, part) : entryOf(node, part)?.value;
  }
  return node;
}

/** The map entry a path ends in, when it ends in one. */
export function entryAt(root: Node, path: Path): Entry | undefined {
  if (path.length === 0) return undefined;
  const parent = nodeAt(root, path.slice(0, -1));
  return parent === undefined ? undefined : entryOf(parent, path.at(-1) as string | number);
}

function entryOf(node: Node, key: string | number): Entry | undefined {
  if (node.kind !== "map") return undefined;
  return indexOf(node).get(String(key));
}

// Lookups by path are the most frequent question; a map of 2,000 states must not be scanned for each.
const indexes = new WeakMap<MapNode, ReadonlyMap<string, Entry>>();

function indexOf(node: MapNode): ReadonlyMap<string, Entry> {
  let index = indexes.get(node);
  if (index === undefined) {
    const built = new Map<string, Entry>();
    for (const entry of node.entries) if (!built.has(entry.key)) built.set(entry.key, entry);
    indexes.set(node, built);
    index = built;
  }
  return index;
}

function listItem(node: ListNode, index: string | number): Node | undefined {
  return typeof index === "number" ? node.items[index] : undefined;
}
