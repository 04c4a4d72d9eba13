// Our schema as a text for authors: standard, described throughout in our own words, exercised by a fixture,
// and turned into the generated files that are on disk.

import { existsSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { generate, type Schema } from "../scripts/generate-shape.ts";
import { followed, visit } from "./compare-schemas.ts";

const root = new URL("../", import.meta.url);
const text = readFileSync(new URL("schema/promptpack.schema.json", root), "utf8");
const ours = JSON.parse(text) as Schema;
const published = new URL("../shared/spec/promptpack.schema.json", root);

describe("our schema", () => {
  test("is valid and uses only keywords of the standard", () => {
    const ajv = new Ajv2020({
      strictSchema: true,
      strictTypes: false,
      strictRequired: false,
      validateFormats: false,
    });
    expect(() => ajv.compile(ours)).not.toThrow();
  });

  test("describes every definition, property and member in whole sentences", () => {
    const silent: string[] = [];
    visit(ours, "", (schema, at) => {
      const words = schema.description ?? followed(ours, schema).description ?? "";
      if (words.length < 8 || !words.endsWith(".")) silent.push(at);
    });
    expect(silent).toEqual([]);
  });

  test.skipIf(!existsSync(published))("repeats no sentence of the published one (skipped without it)", () => {
    const theirs = new Set<string>();
    visit(JSON.parse(readFileSync(published, "utf8")) as Schema, "", (schema) => {
      for (const sentence of sentencesOf(schema)) theirs.add(sentence);
    });
    const repeated: string[] = [];
    visit(ours, "", (schema) => repeated.push(...sentencesOf(schema).filter((one) => theirs.has(one))));
    expect(repeated).toEqual([]);
  });

  test("is met by a fixture that uses every definition but the vendor's step", () => {
    const everything: unknown = parse(
      readFileSync(new URL("testdata/packs/ok/everything.yaml", root), "utf8"),
    );
    const seen = new Set<string>();
    const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false });
    // It runs last, and only where everything else in the definition fitted.
    ajv.addKeyword({
      keyword: "reached",
      post: true,
      validate: (name: string) => seen.add(name) !== undefined,
    });
    const names = Object.keys(ours.$defs ?? {});
    const $defs = Object.fromEntries(names.map((name) => [name, { ...ours.$defs?.[name], reached: name }]));
    expect(ajv.validate({ ...ours, $defs }, everything)).toBe(true);
    expect(names.filter((name) => !seen.has(name))).toEqual(["VendorStep"]);
  });

  test("was turned into the generated files that are on disk", async () => {
    const stale: string[] = [];
    for (const [name, content] of await generate(text)) {
      const onDisk = readFileSync(new URL(`src/pack/shape/generated/${name}`, root), "utf8");
      if (onDisk !== content) stale.push(`${name}: run npx node scripts/generate-shape.ts`);
    }
    expect(stale).toEqual([]);
  });
});

/** Sentences and clauses of more than four words; shorter ones coincide by chance. */
function sentencesOf(schema: Schema): string[] {
  const parts = (schema.description ?? "").split(/(?<=[.;:])\s+/);
  return parts.map((part) => part.toLowerCase()).filter((part) => part.split(" ").length > 4);
}
