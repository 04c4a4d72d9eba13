// What changed between two JSON values, as a tree: keys are matched by name, items of lists by what
// identifies them, or else so that as many as possible stay as they are. The order of keys is no change.

import { diffArrays } from "diff";
import { canonical, deepEqual, get, isObject, type Json } from "../../../src/base/json.ts";
import type { TreeChange } from "./journal-shapes.ts";

/** Nodes of a result; beyond them only counts are shown. */
const NODES_MAX = 4_000;
/** Deeper values are compared whole. */
const DEPTH_MAX = 100;
/** Characters of a value that is shown. */
const VALUE_MAX = 2_000;
/** After that the items are paired in order. */
const TIME_MS = 400;

export interface JsonDiff {
  readonly tree: readonly TreeChange[];
  readonly added: number;
  readonly removed: number;
}

export function jsonDiff(before: Json, after: Json): JsonDiff {
  const walk = new Walk();
  const tree = walk.pair({ key: "", before, after, depth: 0 });
  return { tree, added: walk.added, removed: walk.removed };
}

interface Pair {
  readonly key: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly depth: number;
}

/** Counts while one comparison goes on. */
class Walk {
  added = 0;
  removed = 0;
  #nodes = 0;

  pair({ key, before, after, depth }: Pair): readonly TreeChange[] {
    if (before === undefined || after === undefined) return this.#oneSide(key, before, after);
    if (depth < DEPTH_MAX && Array.isArray(before) && Array.isArray(after))
      return [this.#inside(key, true, this.#items(before, after, depth + 1))];
    if (depth < DEPTH_MAX && isObject(before) && isObject(after))
      return [this.#inside(key, false, this.#members(before, after, depth + 1))];
    if (deepEqual(before, after)) return [];
    this.added++;
    this.removed++;
    return this.#room([{ kind: "changed", key, before: shown(before), after: shown(after) }]);
  }

  #oneSide(key: string, before: Json | undefined, after: Json | undefined): readonly TreeChange[] {
    if (after !== undefined) {
      this.added++;
      return this.#room([{ kind: "added", key, after: shown(after) }]);
    }
    if (before === undefined) return [];
    this.removed++;
    return this.#room([{ kind: "removed", key, before: shown(before) }]);
  }

  #inside(key: string, isList: boolean, { children, same }: Inside): TreeChange {
    return { kind: "inside", key, isList, children, same };
  }

  #members(before: Record<string, Json>, after: Record<string, Json>, depth: number): Inside {
    const children: TreeChange[] = [];
    let same = 0;
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const key of [...keys].sort()) {
      const [left, right] = [own(before, key), own(after, key)];
      if (left !== undefined && right !== undefined && deepEqual(left, right)) same++;
      else children.push(...this.pair({ key, before: left, after: right, depth }));
    }
    return { children, same };
  }

  #items(before: readonly Json[], after: readonly Json[], depth: number): Inside {
    const children: TreeChange[] = [];
    let same = 0;
    for (const { left, right } of matched(before, after)) {
      const [was, is] = [
        left === undefined ? undefined : before[left],
        right === undefined ? undefined : after[right],
      ];
      if (was !== undefined && is !== undefined && deepEqual(was, is)) same++;
      else children.push(...this.pair({ key: String(right ?? left), before: was, after: is, depth }));
    }
    // Everything is there, in another order: that is a change, too.
    if (children.length === 0 && !deepEqual(before, after)) {
      this.added++;
      this.removed++;
      children.push({ kind: "moved", key: "" });
    }
    return { children, same };
  }

  #room(nodes: readonly TreeChange[]): readonly TreeChange[] {
    this.#nodes += nodes.length;
    return this.#nodes > NODES_MAX ? [] : nodes;
  }
}

interface Inside {
  readonly children: readonly TreeChange[];
  /** Members that did not change. */
  readonly same: number;
}

const own = (value: Record<string, Json>, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined;

function shown(value: Json): string {
  const text = typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value, null, 2) ?? "");
  return text.length <= VALUE_MAX ? text : `${text.slice(0, VALUE_MAX)}…`;
}

interface Match {
  readonly left: number | undefined;
  readonly right: number | undefined;
}

function matched(before: readonly Json[], after: readonly Json[]): readonly Match[] {
  return byIdentity(before, after) ?? byPlace(before, after);
}

const IDENTITIES = ["id", "key", "name", "path"];

/** Where every item of both lists has a name of its own. */
function byIdentity(before: readonly Json[], after: readonly Json[]): readonly Match[] | undefined {
  for (const name of IDENTITIES) {
    const [left, right] = [placesBy(before, name), placesBy(after, name)];
    if (left === undefined || right === undefined || left.size + right.size === 0) continue;
    const gone = [...left].filter(([key]) => !right.has(key));
    return [
      ...[...right].map(([key, at]) => ({ left: left.get(key), right: at })),
      ...gone.map(([, at]) => ({ left: at, right: undefined })),
    ];
  }
  return undefined;
}

function placesBy(items: readonly Json[], name: string): ReadonlyMap<Json, number> | undefined {
  const places = new Map<Json, number>();
  for (const [at, item] of items.entries()) {
    const id = isObject(item) ? get(item, name) : undefined;
    if ((typeof id !== "string" && typeof id !== "number") || places.has(id)) return undefined;
    places.set(id, at);
  }
  return places;
}

/** As many as possible stay; what is left between two that stayed is paired in order. */
function byPlace(before: readonly Json[], after: readonly Json[]): readonly Match[] {
  const parts = diffArrays(before.map(canonical), after.map(canonical), { timeout: TIME_MS }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  const matches: Match[] = [];
  let [left, right] = [0, 0];
  let [gone, come]: [number[], number[]] = [[], []];
  const settle = (): void => {
    for (let at = 0; at < Math.max(gone.length, come.length); at++)
      matches.push({ left: gone[at], right: come[at] });
    [gone, come] = [[], []];
  };
  for (const { value, removed, added } of parts) {
    // One by one: there may be more than a call takes as arguments.
    if (removed) for (const _item of value) gone.push(left++);
    else if (added) for (const _item of value) come.push(right++);
    else {
      settle();
      for (const _item of value) matches.push({ left: left++, right: right++ });
    }
  }
  settle();
  return matches;
}
