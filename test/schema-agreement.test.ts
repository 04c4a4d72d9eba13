// Three judges of a pack must agree: the published schema, our own schema, and the walk that explains what
// is wrong. The first two are run by ajv; where ours differs on purpose, it is listed with the reason.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Schema } from "../scripts/generate-shape.ts";
import { get, isObject, type Json, type JsonObject, type Path, toPointer } from "../src/base/json.ts";
import { checkShape, type ShapeCheck } from "../src/pack/shape/check-shape.ts";
import { differences } from "./compare-schemas.ts";
import { damagedOnce, mutated, mutations } from "./pack-mutations.ts";

const root = new URL("../", import.meta.url);
const shared = new URL("../shared/", root);
const isAbsent = !existsSync(new URL("spec/promptpack.schema.json", shared));
const absent = "the folder ../shared with the published schemas and packs is absent";
const seed = 20_260_801;

function read(name: string, folder = root): Json {
  return parse(readFileSync(new URL(name, folder), "utf8")) as Json;
}

interface NamedPack {
  readonly name: string;
  readonly pack: Json;
}

function publicPacks(kind: "valid" | "invalid"): readonly NamedPack[] {
  const names = isAbsent ? [] : readdirSync(new URL(`packs/${kind}`, shared));
  return names.map((name) => ({ name, pack: read(`packs/${kind}/${name}`, shared) }));
}

type Verdict = (value: Json) => boolean;

function verdictOf(schema: Schema): Verdict {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  return (value) => validate(value);
}

function publishedSchema(version = ""): Schema {
  return read(`spec/promptpack.schema${version}.json`, shared) as unknown as Schema;
}

const ours = read("schema/promptpack.schema.json") as unknown as Schema;
const ourVerdict = verdictOf(ours);
const theirVerdict = isAbsent ? ourVerdict : verdictOf(publishedSchema());
const everything = read("testdata/packs/ok/everything.yaml");
const small = read("testdata/shape/base.yaml");

// ---------------------------------------------------------------------------------------------------------
// Where we differ on purpose

interface Exception {
  readonly reason: string;
  readonly path: Path;
  /** A value on which the two schemas disagree. */
  readonly value: Json;
  readonly isAcceptedHere: boolean;
}

const engine = (key: string, value: Json): Exception => ({
  reason: `S56: packloop interprets workflow.engine.${key}, so it is checked`,
  path: ["workflow", "engine", key],
  value,
  isAcceptedHere: false,
});

const exceptions: readonly Exception[] = [
  {
    reason: "S55: a tool is known by its key, so a name the published pattern refuses is a warning (PP110)",
    path: ["tools", "find_order", "name"],
    value: "Find Order",
    isAcceptedHere: true,
  },
  engine("nudges", -1),
  engine("wall_clock", "later"),
  engine("budget_ext", { max_tokens: 5 }),
  engine("result_bindings", { find_order: 5 }),
];

/** A copy with every listed exception taken out of play. */
function neutralised(pack: Json): Json {
  const copy = structuredClone(pack);
  const tools = get(copy, "tools");
  for (const tool of isObject(tools) ? Object.values(tools) : []) {
    if (typeof get(tool, "name") === "string") (tool as Record<string, Json>).name = "tool";
  }
  const settings = get(get(copy, "workflow"), "engine");
  if (!isObject(settings)) return copy;
  for (const key of ["nudges", "wall_clock", "budget_ext", "result_bindings"]) {
    delete (settings as Record<string, Json>)[key];
  }
  return copy;
}

/** What both schemas say, leaving the exceptions aside; it is cheaper to leave them in at first. */
function commonVerdict(pack: Json): "accepted" | "refused" | "apart" {
  const verdict = ourVerdict(pack);
  if (verdict === theirVerdict(pack)) return verdict ? "accepted" : "refused";
  const rest = neutralised(pack);
  if (ourVerdict(rest) !== theirVerdict(rest)) return "apart";
  return verdict ? "accepted" : "refused";
}

function withException({ path, value }: Exception): Json {
  const pack = structuredClone(everything);
  let owner = pack;
  for (const key of path.slice(0, -1)) owner = get(owner, key) as Json;
  (owner as Record<string | number, Json>)[path.at(-1) as string] = value;
  return pack;
}

describe.skipIf(isAbsent)(`our schema and the published one (skipped when ${absent})`, () => {
  test("say the same, keyword by keyword, apart from the listed exceptions", () => {
    expect(differences(ours, publishedSchema())).toEqual([
      '/tools/*/name: pattern undefined against "^[a-zA-Z_][a-zA-Z0-9_]*$"',
      "/workflow/engine/budget_ext: only on the left",
      "/workflow/engine/nudges: only on the left",
      "/workflow/engine/wall_clock: only on the left",
      "/workflow/engine/result_bindings: only on the left",
      "/workflow/engine/artifact_schemas: only on the left",
    ]);
  });

  test.each(exceptions)("differ on purpose: $reason", (exception) => {
    const pack = withException(exception);
    expect({ here: ourVerdict(pack), there: theirVerdict(pack) }).toEqual({
      here: exception.isAcceptedHere,
      there: !exception.isAcceptedHere,
    });
    const rest = neutralised(pack);
    expect([ourVerdict(rest), theirVerdict(rest)]).toEqual([true, true]);
  });

  test.each(publicPacks("valid"))("accept the public pack $name", ({ pack }) => {
    expect([ourVerdict(pack), theirVerdict(pack)]).toEqual([true, true]);
    expect(checkShape(pack).problems).toEqual([]);
  });

  test.each(publicPacks("invalid"))("judge the invalid public pack $name alike", ({ pack }) => {
    expect(theirVerdict(pack)).toBe(false);
    const rest = neutralised(pack);
    expect(ourVerdict(rest)).toBe(theirVerdict(rest));
  });

  test("agree on the fixture with each member in turn deleted and replaced", () => {
    const counts = { accepted: 0, refused: 0, apart: 0 };
    for (const pack of damagedOnce(everything, 7)) counts[commonVerdict(pack)]++;
    expect(counts.apart).toBe(0);
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(1_000);
  });

  test("agree on 20,000 mutated packs", () => {
    const packs = publicPacks("valid").map(({ pack }) => pack);
    // The fixture that uses everything gets a quarter of the mutations.
    const bases = packs.flatMap((pack, i) => (i % 2 === 0 ? [pack, everything] : [pack, small]));
    const counts = { accepted: 0, refused: 0, apart: 0 };
    const agree = fc.property(mutations(bases.length), (mutation) => {
      const verdict = commonVerdict(mutated(bases, mutation));
      counts[verdict]++;
      return verdict !== "apart";
    });
    fc.assert(agree, { numRuns: 20_000, seed });
    // A test in which everything is refused, or nothing, would prove little.
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(4_000);
  });
});

describe("the walk", () => {
  const bases = [everything, everything, small];

  test("finds problems in exactly those mutated packs that our schema refuses", () => {
    const agree = fc.property(mutations(bases.length), (mutation) => {
      const document = mutated(bases, mutation);
      return (checkShape(document).problems.length === 0) === ourVerdict(document);
    });
    expect(() => fc.assert(agree, { numRuns: 3_000, seed })).not.toThrow();
  });

  test("agrees with our schema on the fixture with each member in turn damaged", () => {
    let apart = 0;
    for (const pack of damagedOnce(everything, 23)) {
      if ((checkShape(pack).problems.length === 0) !== ourVerdict(pack)) apart++;
    }
    expect(apart).toBe(0);
  });

  test("leaves a pack that keeps every promise of its types", () => {
    const isWellTyped = verdictOf(typesOf(ours));
    const typed = fc.property(mutations(bases.length), (mutation) => {
      return isWellTyped(checkShape(mutated(bases, mutation)).pack as unknown as Json);
    });
    expect(() => fc.assert(typed, { numRuns: 1_500, seed })).not.toThrow();
  });

  test("marks whatever is still wrong with the pack it leaves", () => {
    const marked = fc.property(mutations(bases.length), (mutation) => {
      const first = checkShape(mutated(bases, mutation));
      const again = checkShape(first.pack as unknown as Json);
      return again.problems.every(({ path, data }) => isMarked(first, path, data));
    });
    expect(() => fc.assert(marked, { numRuns: 1_500, seed })).not.toThrow();
  });

  test("never lets a broken piece of text into a message", () => {
    const proper = fc.property(mutations(bases.length), (mutation) => {
      const { problems } = checkShape(mutated(bases, mutation));
      return problems.every(({ message, why, help }) => {
        return [message, why, help].every((text) => {
          return /^[^A-Z].*[^.]$/su.test(text) && !/undefined|NaN|\[object O/.test(text);
        });
      });
    });
    expect(() => fc.assert(proper, { numRuns: 1_500, seed })).not.toThrow();
  });
});

/** What the TypeScript types promise: types, choices, required keys, closed objects; no limits. */
function typesOf(schema: Schema): Schema {
  const untyped = ["pattern", "minLength", "maxLength", "minimum", "exclusiveMinimum", "maximum", "minItems"];
  const others = ["uniqueItems", "minProperties", "maxProperties", "if", "then", "else", "anyOf"];
  const convert = (value: unknown, isKeyword: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => convert(item, true));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).filter(
      ([key]) => !isKeyword || ![...untyped, ...others].includes(key),
    );
    const named = entries.map(([key, member]) => {
      // Several media forms may fit once their limits are gone.
      const name = isKeyword && key === "oneOf" ? "anyOf" : key;
      return [name, convert(member, !isKeyword || (key !== "properties" && key !== "$defs"))];
    });
    return Object.fromEntries(named) as unknown;
  };
  return convert(schema, true) as Schema;
}

/** Dropped or filled in, right above something that was, or reported before. */
function isMarked({ problems, broken, toSource }: ShapeCheck, place: Path, data: JsonObject): boolean {
  const path = toSource(place);
  const full = typeof data.property === "string" ? [...path, data.property] : path;
  if (full.some((_, i) => broken.has(toPointer(full.slice(0, i + 1))))) return true;
  const pointer = toPointer(path);
  if (problems.some((problem) => toPointer(problem.path) === pointer)) return true;
  return [...broken].some((other) => other.slice(0, other.lastIndexOf("/")) === pointer);
}

describe.skipIf(isAbsent)(`packs of older versions (skipped when ${absent})`, () => {
  const versions = [".v1.0", ".v1.1.0", ".v1.2.0", ".v1.3.0", ".v1.3.1", ".v1.4.0"];

  test.each(versions)("that schema%s accepts stay valid, known ones and mutated ones", (version) => {
    const oldVerdict = verdictOf(publishedSchema(version));
    const known = publicPacks("valid").map(({ pack }) => pack);
    const bases = known.filter((pack) => oldVerdict(pack));
    let accepted = 0;
    const stay = fc.property(mutations(bases.length), (mutation) => {
      const pack = neutralised(mutated(bases, mutation));
      if (!oldVerdict(pack) || hasOldOrchestration(pack)) return true;
      accepted++;
      return ourVerdict(pack);
    });
    fc.assert(stay, { numRuns: 1_000, seed });
    expect(accepted).toBeGreaterThan(200);
  });
});

/** Any text was allowed up to 1.4; since 1.5 it is one of four, and composition needs a composition. */
function hasOldOrchestration(pack: Json): boolean {
  const states = get(get(pack, "workflow"), "states");
  return Object.values(isObject(states) ? states : {}).some((state) => {
    const mode = get(state, "orchestration");
    return typeof mode === "string" && !["internal", "external", "hybrid"].includes(mode);
  });
}
