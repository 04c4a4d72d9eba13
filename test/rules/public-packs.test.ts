// Packs that people published: none that the schema accepts may get an error, and each it refuses gets one.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkText } from "../../src/pack/check-text.ts";

const folder = new URL("../../../shared/packs/", import.meta.url);
const there = existsSync(folder);
const names = (kind: string) => (there ? readdirSync(new URL(kind, folder)) : ["(none)"]);

function errorsIn(kind: string, name: string): readonly string[] {
  const text = readFileSync(new URL(`${kind}/${name}`, folder), "utf8");
  const { findings } = checkText(text, { file: name });
  return findings.filter((one) => one.severity === "error").map((one) => `${one.code} ${one.message}`);
}

describe.skipIf(!there)("public packs (skipped when the folder ../shared with them is absent)", () => {
  test.each(names("valid"))("%s has no error", (name) => {
    expect(errorsIn("valid", name)).toEqual([]);
  });

  // RFC 0007's first example breaks the schema only by names of tools, which are labels here (S55).
  test.each(names("invalid").filter((name) => !name.includes("rfc0007")))("%s has an error", (name) => {
    expect(errorsIn("invalid", name)).not.toEqual([]);
  });
});
