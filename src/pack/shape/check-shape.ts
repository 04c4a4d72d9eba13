// The shape phase: is a document a PromptPack at all? Says what is wrong against the schema (PP101, PP105)
// and hands on a well-typed pack whatever it found, so that the later phases can look at the rest.

import type { Json, Path } from "../../base/json.ts";
import { isObject, toPointer } from "../../base/json.ts";
import type { PackFile } from "./generated/pack-file.ts";
import { type ShapeProblem, Walk } from "./walk.ts";

export type { ShapeProblem };

export interface ShapeCheck {
  readonly problems: readonly ShapeProblem[];
  /**
   * The pack without unknown keys and unusable values; what is required and missing has a neutral value. It
   * is the document itself when nothing is wrong, and `undefined` only when the document is no mapping.
   */
  readonly pack: PackFile | undefined;
  /** RFC 6901 pointers into the document: what was dropped, filled in, or is empty and must not be. */
  readonly broken: ReadonlySet<string>;
  /** Where a place in `pack` is in the document: lists close up when an item is dropped. */
  readonly toSource: (path: Path) => Path;
}

/** Expects a document of at most 64 levels, which the reader guarantees. */
export function checkShape(value: Json): ShapeCheck {
  const walk = new Walk(value);
  const copy = walk.value({ ref: "PackFile" }, value);
  const { problems, broken, moved } = walk.found;
  // Every required property of the root can be filled in, so a mapping always leaves a pack.
  const pack = problems.length === 0 ? value : copy;
  return {
    problems,
    pack: isObject(pack) ? (pack as unknown as PackFile) : undefined,
    broken: new Set(broken),
    toSource: sourceOf(new Map(moved)),
  };
}

function sourceOf(moved: ReadonlyMap<string, readonly number[]>): (path: Path) => Path {
  if (moved.size === 0) return (path) => path;
  return (path) => {
    const source: (string | number)[] = [];
    for (const part of path) {
      const kept = typeof part === "number" ? moved.get(toPointer(source)) : undefined;
      source.push(kept?.[Number(part)] ?? part);
    }
    return source;
  };
}
