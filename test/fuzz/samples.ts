// Texts to try the checker with: packs of our own, broken at random, and data that only looks like a pack.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { parse, stringify } from "yaml";

export interface Sample {
  readonly file: string;
  readonly text: string;
}

const everything = readFileSync(
  fileURLToPath(new URL("../../testdata/packs/ok/everything.yaml", import.meta.url)),
  "utf8",
);
const everythingValue = parse(everything) as Record<string, unknown>;

const loop = `id: loop
name: Loop
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
fragments: { tone: "Be brief. {{fragments.house}}", house: 'You work for {{company}}.' }
prompts:
  work: &work
    id: work
    name: Work
    version: 1.0.0
    system_template: |
      {{fragments.tone}} Emit Done or Again. So far: {{artifacts.notes}}
    variables: [{ name: company, type: string, required: false, default: "Ac\\u006de" }]
    tools: [search, "mcp__web__*"]
  close: { id: close, name: Close, version: 1.0.0, system_template: "Close: {{artifacts.notes}}" }
tools: { search: { name: search, description: Searches. } }
workflow:
  version: 2
  entry: work
  states:
    work:
      prompt_task: work # pp-ignore PP602: the tool carries the events
      on_event: { Done: close, Again: work }
      max_visits: 3
      on_max_visits: close
      artifacts: { notes: { type: text/plain, mode: append } }
    close: { prompt_task: close, terminal: true }
  engine: { budget: { max_total_visits: 5 } }
`;

const quoted = JSON.stringify(JSON.stringify(parse(loop)));
const manifest = `apiVersion: v1
kind: ConfigMap
data:
  pack.yaml: |
${loop.replaceAll(/^(?=.)/gm, "    ")}  old.pack.json: ${quoted}
`;

const bases: readonly Sample[] = [
  { file: "everything.yaml", text: everything },
  { file: "everything.json", text: JSON.stringify(everythingValue, null, 1) },
  { file: "loop.yaml", text: loop },
  { file: "loop-crlf.yaml", text: `\ufeff${loop.replaceAll("\n", "\r\n")}` },
  { file: "loop.json", text: JSON.stringify(parse(loop)) },
  { file: "manifest.yaml", text: manifest },
];

/** Pieces that have a meaning somewhere, and some that have none anywhere. */
const pieces = fc.oneof(
  fc.constantFrom(
    ..."\t\n\r\u0000\u0002\u0018\u001f\u2028\ufeff\ud800'\"`:{}[],&*!|>%@#-?~\\/ 0",
    ..."{{ }} {{fragments. {{artifacts. ${ - - ? ? : : << *work &work !!binary --- ... |- >+ 1e999".split(
      " ",
    ),
    ".inf",
    "__proto__: null",
    "\n\n",
    "\n  ",
    "max_visits: 1",
    "terminal: true",
    '"constructor": {}',
    "😀",
  ),
  fc.string({ maxLength: 5, unit: "binary" }),
);

interface Mutation {
  readonly kind: "insert" | "delete" | "replace" | "repeat" | "move";
  readonly at: number;
  readonly length: number;
  readonly piece: string;
}

const mutations = fc.array(
  fc.record<Mutation>({
    kind: fc.constantFrom("insert", "delete", "replace", "repeat", "move"),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 4 }) },
      fc.integer({ min: 1, max: 400 }),
    ),
    piece: pieces,
  }),
  { minLength: 1, maxLength: 6 },
);

function mutated(text: string, { kind, at, length, piece }: Mutation): string {
  const start = Math.floor(at * text.length);
  const cut = text.slice(start, start + length);
  const [before, after] = [text.slice(0, start), text.slice(start + length)];
  switch (kind) {
    case "insert":
      return before + piece + cut + after;
    case "delete":
      return before + after;
    case "replace":
      return before + piece + after;
    case "repeat":
      return before + cut + cut + after;
    case "move":
      return cut + before + after;
  }
}

/** A pack of ours with a few bytes changed. */
export const mutatedPacks: fc.Arbitrary<Sample> = fc
  .tuple(fc.constantFrom(...bases), mutations)
  .map(([{ file, text }, changes]) => ({ file, text: changes.reduce(mutated, text) }));

/** Words of the format in places where they do not belong. */
const words = [...new Set(everything.match(/[A-Za-z_$][A-Za-z0-9_]*/g) ?? [])];
const names = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...words) },
  fc.constantFrom(
    "__proto__",
    "constructor",
    "toString",
    "",
    "no",
    "012",
    "a.b",
    "work",
    "{{artifacts.work}}",
  ),
);
const scalars = fc.oneof(
  names,
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -2, max: 3 }),
  fc.boolean(),
  fc.constant(null),
);
const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    scalars,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 6 }),
  ),
})).value;

type Container = Record<string, unknown> | unknown[];

/** Puts `value` at a place of the pack that the numbers choose, some levels down. */
function planted(pack: unknown, choices: readonly number[], value: unknown): unknown {
  const [choice, ...rest] = choices;
  if (choice === undefined || typeof pack !== "object" || pack === null) return value;
  const keys = Object.keys(pack);
  const key = keys[Math.floor(choice * keys.length)];
  if (key === undefined) return value;
  const copy = (Array.isArray(pack) ? [...pack] : { ...pack }) as Container;
  const child = (pack as Record<string, unknown>)[key];
  Object.defineProperty(copy, key, { value: planted(child, rest, value), enumerable: true });
  return copy;
}

const choices = fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 6 });

/** Our largest pack with some values replaced by data of any shape, written in either syntax. */
export const plantedPacks: fc.Arbitrary<Sample> = fc
  .tuple(fc.array(fc.tuple(choices, values), { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([changes, isJson]) => {
    const pack = changes.reduce<unknown>((pack, [at, value]) => planted(pack, at, value), everythingValue);
    return written(pack, isJson);
  });

/** Data of any shape with the words of the format. */
export const garbage: fc.Arbitrary<Sample> = fc
  .tuple(values, fc.boolean())
  .map(([value, isJson]) => written(value, isJson));

function written(value: unknown, isJson: boolean): Sample {
  if (isJson) return { file: "pack.json", text: JSON.stringify(value) };
  return { file: "pack.yaml", text: stringify(value, { aliasDuplicateObjects: false }) };
}

export const anyText: fc.Arbitrary<Sample> = fc
  .tuple(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join("")),
    ),
    fc.constantFrom("pack.yaml", "pack.json", "-"),
  )
  .map(([text, file]) => ({ file, text }));

export const anyJson: fc.Arbitrary<Sample> = fc.json().map((text) => ({ file: "pack.json", text }));
