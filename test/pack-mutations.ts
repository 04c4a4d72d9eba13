// Small damages to a pack, as fast-check arbitraries: members deleted, added, exchanged, copied, and replaced
// by values of other types, at the edges of ranges, and just outside patterns and choices.

import * as fc from "fast-check";
import { get, isObject, type Json, type JsonObject, type Path, put } from "../src/base/json.ts";

/** Which base to damage, and where and how; numbers are taken modulo what there is. */
interface Mutation {
  readonly base: number;
  readonly damages: readonly Damage[];
}

interface Damage {
  readonly how: "delete" | "add" | "replace" | "swap" | "copy" | "repeat" | "rename";
  readonly place: number;
  readonly other: number;
  readonly pick: number;
}

const words = (text: string): string[] => text.split(" ");

const replacements: readonly Json[] = [
  null,
  true,
  false,
  [],
  {},
  [[]],
  [{}],
  ["a", "a"],
  { a: {} },
  { kind: "prompt" },
  "",
  "a b",
  ...words(
    "text none ä A - _ 1 1.0 v1.0.0 1.0.0+a P P1M1Y P1W2D composition external agent prompt tool branch",
  ),
  ...words(
    "parallel acme.judge Acme.judge read append gauge user auto object model equals strict text/plain en",
  ),
  ...words("0 -1 1 2 1.5 2.5 -2 -3 100 101 1e21 1e-9 9007199254740991").map(Number),
];

const keys = [
  ...words("x __proto__ constructor id name type kind path op value exists not all_of any_of prompt_task"),
  ...words("composition orchestration required extensions version max_size_mb max_pages field eval enabled"),
  ...words("text media tools input preload"),
];

export function mutations(bases: number): fc.Arbitrary<Mutation> {
  const number = fc.nat({ max: 1_000_000 });
  const how = fc.constantFrom<Damage["how"]>(
    ...(["delete", "add", "replace", "replace", "swap", "copy", "repeat", "rename"] as const),
  );
  const damage = fc.record({ how, place: number, other: number, pick: number });
  return fc.record({
    base: fc.nat({ max: bases - 1 }),
    damages: fc.array(damage, { minLength: 1, maxLength: 2 }),
  });
}

/** The base with its damages. What they do not touch is shared with the base, which stays whole. */
export function mutated(bases: readonly Json[], { base, damages }: Mutation): Json {
  const whole = bases[base] as Json;
  return damages.reduce((document, damage) => damaged(document, whole, damage), whole);
}

/**
 * The document with each member in turn deleted, given an unknown key, and replaced by every nth of the
 * values above; numbers by all numbers, because their limits are exact.
 */
export function* damagedOnce(document: Json, nth: number): Generator<Json> {
  let turn = 0;
  for (const path of pathsIn(document)) {
    yield removed(document, path);
    const value = at(document, path);
    if (isObject(value)) yield written(document, [...path, "unknown"], 1);
    for (const replacement of replacements) {
      const isNumber = typeof value === "number" && typeof replacement === "number";
      if (isNumber || turn++ % nth === 0) yield written(document, path, replacement);
    }
  }
}

function damaged(document: Json, whole: Json, { how, place, other, pick }: Damage): Json {
  const paths = pathsIn(whole);
  const path = paths[place % paths.length] as Path;
  const source = at(whole, paths[other % paths.length] as Path) as Json;
  const value = at(document, path);
  // An earlier damage may have taken the place away.
  if (value === undefined) return document;
  const replacement = replacements[pick % replacements.length] as Json;
  const key = keys[pick % keys.length] as string;
  switch (how) {
    case "delete":
      return removed(document, path);
    case "replace":
      return written(document, path, replacement);
    case "copy":
      return written(document, path, source);
    case "swap": {
      const half = written(document, path, source);
      const target = paths[other % paths.length] as Path;
      return at(half, target) === undefined ? half : written(half, target, value);
    }
    case "add":
      return isObject(value) ? written(document, [...path, key], replacement) : document;
    case "rename":
      return written(removed(document, path), [...path.slice(0, -1), key], value);
    case "repeat":
      return Array.isArray(value) ? written(document, path, [...value, ...value.slice(0, 1)]) : document;
  }
}

const pathsByDocument = new Map<Json, readonly Path[]>();

function pathsIn(document: Json): readonly Path[] {
  let paths = pathsByDocument.get(document);
  if (paths === undefined) {
    paths = membersOf(document).flatMap((key) => below(document, [key]));
    pathsByDocument.set(document, paths);
  }
  return paths;
}

function below(document: Json, path: Path): Path[] {
  return [path, ...membersOf(at(document, path)).flatMap((key) => below(document, [...path, key]))];
}

function membersOf(value: Json | undefined): (string | number)[] {
  if (Array.isArray(value)) return [...value.keys()];
  return isObject(value) ? Object.keys(value) : [];
}

function at(document: Json, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((value, key) => get(value, key), document);
}

/** A document with one member changed; only the objects on the way to it are copied. */
function written(document: Json, path: Path, value: Json | undefined): Json {
  const [key, ...rest] = path;
  if (key === undefined) return value as Json;
  const next = rest.length === 0 ? value : written(get(document, key) as Json, rest, value);
  if (Array.isArray(document)) {
    const index = typeof key === "number" ? key : document.length;
    return next === undefined ? document.toSpliced(index, 1) : document.toSpliced(index, 1, next);
  }
  const copy: Record<string, Json> = { ...(document as JsonObject) };
  if (next === undefined) delete copy[key];
  else put(copy, String(key), next);
  return copy;
}

function removed(document: Json, path: Path): Json {
  return written(document, path, undefined);
}
