// Schemas of compositions are read from the folder of the pack, and from nowhere else.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openPack } from "../pack/open-pack.ts";
import { schemaBeside } from "./schema-beside.ts";

const root = mkdtempSync(join(tmpdir(), "packloop-schemas-"));
const folder = join(root, "pack");
mkdirSync(join(folder, "schemas"), { recursive: true });
writeFileSync(join(folder, "schemas/a.json"), '{ "type": "object", "$defs": { "b": { "type": "string" } } }');
writeFileSync(join(folder, "list.json"), "[]");
writeFileSync(join(folder, "broken.json"), "{");
writeFileSync(join(root, "outside.json"), '{ "type": "object" }');
symlinkSync(join(root, "outside.json"), join(folder, "link.json"));
const read = schemaBeside(join(folder, "x.pack.yaml"));

afterAll(() => rmSync(root, { recursive: true }));

test("a file in the folder is read, whole or in part", () => {
  expect(read("schemas/a.json")).toMatchObject({ type: "object" });
  expect(read("schemas/a.json#/$defs/b")).toMatchObject({ type: "string" });
});

test.for(["../outside.json", "link.json", join(root, "outside.json"), "gone.json", "schemas", "list.json"])(
  "%s is no schema of the pack",
  (path) => expect(read(path)).toBeUndefined(),
);

test("a file that is no JSON, or a part that is not there, is no schema", () => {
  expect(read("broken.json")).toBeUndefined();
  expect(read("schemas/a.json#/$defs/c")).toBeUndefined();
});

test("what the schema says belongs to the digest of the pack", () => {
  const text = `id: x
name: X
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts: { p: { id: p, name: P, version: 1.0.0, system_template: Go. } }
workflow:
  version: 2
  entry: a
  states: { a: { orchestration: composition, composition: c, terminal: true } }
compositions: { c: { version: 1, steps: [{ id: s, kind: prompt, prompt_task: p, output_schema: a.json }] } }
`;
  const digests = [{ type: "object" }, { type: "array" }, undefined].map((schema) => {
    const opened = openPack(text, { schemaFile: () => schema });
    return opened.ok ? opened.digest : "";
  });
  expect(new Set(digests).size).toBe(3);
  expect(digests).not.toContain("");
});
