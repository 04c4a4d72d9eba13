// Edits are checked by what the edited text means: parse, edit, parse again, compare with the same change
// made to the value.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { deepEqual, isObject, type Json, type JsonObject, type Path, put } from "../../base/json.ts";
import type { Edit } from "../diagnostic.ts";
import { readSource } from "../read/read-source.ts";
import { type Node, toJson } from "../read/tree.ts";
import { applyEdits } from "./apply-fixes.ts";
import { addEntry, removeAt, renameKey, replaceScalar } from "./edits.ts";

const key = fc.constantFrom("alpha", "beta", "gamma", "delta", "on", "with space", "12", "a.b");
const leaf = fc.oneof(
  fc.constantFrom("text", "two words", "yes", "x: y", "# no", ""),
  fc.integer({ min: 0, max: 99 }),
  fc.boolean(),
);
const document: fc.Arbitrary<Json> = fc.letrec<{ node: Json; map: Json }>((tie) => ({
  node: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie("node"), { maxLength: 3 }), tie("map")),
  map: fc.dictionary(key, tie("node"), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
})).map;

interface Style {
  readonly name: string;
  readonly file: string;
  readonly print: (value: Json) => string;
}

const styles: readonly Style[] = [
  { name: "block YAML", file: "p.yaml", print: (value) => stringify(value) },
  {
    name: "block YAML with comments",
    file: "p.yaml",
    print: (value) => `# head\n${stringify(value).replaceAll(/\n(?=\w)/g, "\n# between\n")}# tail\n`,
  },
  { name: "CRLF YAML", file: "p.yaml", print: (value) => stringify(value).replaceAll("\n", "\r\n") },
  { name: "flow YAML", file: "p.yaml", print: (value) => stringify(value, { collectionStyle: "flow" }) },
  { name: "JSON", file: "p.json", print: (value) => `${JSON.stringify(value, null, 2)}\n` },
  { name: "compact JSON", file: "p.json", print: (value) => JSON.stringify(value) },
];

function parse(text: string, file: string): Node {
  const [pack] = readSource(text, file).packs;
  if (pack === undefined) throw new Error(`does not parse:\n${text}`);
  return pack.root;
}

function pathsOf(value: Json, path: Path = []): Path[] {
  const paths: Path[] = [path];
  if (Array.isArray(value))
    for (const [i, item] of (value as Json[]).entries()) paths.push(...pathsOf(item, [...path, i]));
  else if (isObject(value))
    for (const [name, item] of Object.entries(value)) paths.push(...pathsOf(item, [...path, name]));
  return paths;
}

/** A copy with the value at a path changed; `undefined` removes it. */
function changed(value: Json, path: Path, make: (old: Json) => Json | undefined): Json {
  const [head, ...rest] = path;
  if (head === undefined) return make(value) as Json;
  if (Array.isArray(value)) {
    const items = [...(value as Json[])];
    if (rest.length > 0) items[head as number] = changed(items[head as number] as Json, rest, make);
    else {
      const next = make(items[head as number] as Json);
      if (next === undefined) items.splice(head as number, 1);
      else items[head as number] = next;
    }
    return items;
  }
  const result: Record<string, Json> = {};
  for (const [name, item] of Object.entries(value as JsonObject)) {
    if (name !== head) put(result, name, item);
    else if (rest.length > 0) put(result, name, changed(item, rest, make));
    else {
      const next = make(item);
      if (next !== undefined) put(result, name, next);
    }
  }
  return result;
}

interface Case {
  readonly value: Json;
  readonly text: string;
  readonly root: Node;
  readonly path: Path;
  readonly at: Json;
}

/** For a random place in a random document: the edit, if one is offered, means exactly the change. */
function means(
  style: Style,
  edit: (one: Case) => readonly Edit[],
  expected: (one: Case) => Json,
  wanted: (at: Json, path: Path) => boolean,
): void {
  let offered = 0;
  fc.assert(
    fc.property(document, fc.nat(), (value, pick) => {
      const paths = pathsOf(value).filter((path) => wanted(atPath(value, path), path));
      fc.pre(paths.length > 0);
      const path = paths[pick % paths.length] as Path;
      const text = style.print(value);
      const one: Case = { value, text, root: parse(text, style.file), path, at: atPath(value, path) };
      const edits = edit(one);
      if (edits.length === 0) return;
      offered++;
      const after = applyEdits(text, edits);
      expect(toJson(parse(after, style.file)), `${text}\n--- ${path.join("/")} --->\n${after}`).toEqual(
        expected(one),
      );
      if (style.name.includes("comments")) expect(after).toContain("# head");
    }),
    { numRuns: 400, seed: 7 },
  );
  expect(offered).toBeGreaterThan(50);
}

function atPath(value: Json, path: Path): Json {
  let current: Json = value;
  for (const part of path) current = (current as Record<string | number, Json>)[part] as Json;
  return current;
}

describe.each(styles.map((style) => [style.name, style] as const))("%s", (_name, style) => {
  test("removing an entry or item removes just that", () => {
    means(
      style,
      (c) => removeAt(c.root, c.text, c.path),
      (c) => changed(c.value, c.path, () => undefined),
      (_at, path) => path.length > 0,
    );
  });

  test("replacing a scalar replaces just that", () => {
    means(
      style,
      (c) => replaceScalar(c.root, c.text, c.path, "new value: #1"),
      (c) => changed(c.value, c.path, () => "new value: #1"),
      (at) => typeof at !== "object",
    );
  });

  test("renaming a key keeps its value", () => {
    means(
      style,
      (c) => renameKey(c.root, c.text, c.path, "new-name"),
      (c) => renamed(c.value, c.path, "new-name"),
      (_at, path) => typeof path.at(-1) === "string",
    );
  });

  test("adding an entry adds just that", () => {
    means(
      style,
      (c) => addEntry(c.root, c.text, c.path, "added", "true"),
      (c) => changed(c.value, c.path, (old) => ({ ...(old as JsonObject), added: true })),
      (at) => isObject(at),
    );
  });
});

function renamed(value: Json, path: Path, name: string): Json {
  const parent = path.slice(0, -1);
  const old = path.at(-1) as string;
  return changed(value, parent, (map) => {
    const result: Record<string, Json> = {};
    for (const [key_, item] of Object.entries(map as JsonObject))
      put(result, key_ === old ? name : key_, item);
    return result;
  });
}

test("a text that YAML would read otherwise is quoted", () => {
  const text = "a: plain\n";
  const root = parse(text, "p.yaml");
  expect(applyEdits(text, replaceScalar(root, text, ["a"], "no"))).toBe('a: "no"\n');
  expect(applyEdits(text, replaceScalar(root, text, ["a"], "fine"))).toBe("a: fine\n");
});

test("comments and quoting beside an edit keep their bytes", () => {
  const text = "# top\na: 'x' # first\nb: \"y\"   # second\nc: z\n";
  const root = parse(text, "p.yaml");
  expect(applyEdits(text, removeAt(root, text, ["b"]))).toBe("# top\na: 'x' # first\nc: z\n");
  expect(deepEqual(toJson(root), { a: "x", b: "y", c: "z" })).toBe(true);
});

test("a list item that is a mapping goes with its dash and all of its lines", () => {
  const text =
    "vars:\n  - name: a # kept\n    type: string\n  - name: b\n    type: string\n  - name: c\nend: x\n";
  const root = parse(text, "p.yaml");
  const without = (index: number): string => applyEdits(text, removeAt(root, text, ["vars", index]));
  expect(without(1)).toBe("vars:\n  - name: a # kept\n    type: string\n  - name: c\nend: x\n");
  expect(without(2)).toBe(text.replace("  - name: c\n", ""));
});

test("a list item below its dash is left alone: the dash would stay behind", () => {
  const text = "vars:\n  -\n    name: a\n  - name: b\n";
  expect(removeAt(parse(text, "p.yaml"), text, ["vars", 0])).toEqual([]);
});
