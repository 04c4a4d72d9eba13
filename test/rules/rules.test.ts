// Every rule has fixtures with exact text: positive, negative, boundary; and examples that do what they say.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { rules } from "../../src/pack/check/rules.ts";
import { checkText } from "../../src/pack/check-text.ts";
import { completed, findingsText, parseCases, printCases } from "./rule-cases.ts";

const only = process.env["RULES"]?.split(",");
const chosen = rules.filter(
  (rule) => only === undefined || only.some((prefix) => rule.code.startsWith(prefix)),
);

test("codes are in order and unique", () => {
  const codes = rules.map((rule) => rule.code);
  expect(codes).toEqual([...new Set(codes)].sort());
});

describe.each(chosen.map((rule) => [rule.code, rule] as const))("%s", (code, rule) => {
  const file = fileURLToPath(new URL(`../../testdata/rules/${code}.txt`, import.meta.url));
  const cases = existsSync(file) ? parseCases(readFileSync(file, "utf8")) : [];
  if (process.env["UPDATE_RULES"] === "1" && cases.length > 0) {
    const updated = cases.map((one) => ({ ...one, expected: findingsText(code, one) }));
    writeFileSync(file, printCases(updated));
    test.skip("expected text was rewritten", () => undefined);
    return;
  }

  test("has a positive, a negative and a boundary case", () => {
    expect(cases.some((one) => one.kind === "bad")).toBe(true);
    expect(cases.some((one) => one.kind === "ok")).toBe(true);
    expect(cases.some((one) => one.title.startsWith("edge-"))).toBe(true);
  });

  test.each(cases.map((one) => [one.title, one] as const))("%s", (_title, one) => {
    const found = findingsText(code, one);
    expect(found).toBe(one.expected);
    expect(found === "" ? "ok" : "bad").toBe(one.kind);
  });

  test("its bad example reports it and its good example does not", () => {
    const config = rule.badConfig ?? "";
    expect(findingsText(code, { pack: rule.bad, config })).not.toBe("");
    expect(findingsText(code, { pack: rule.good, config })).toBe("");
  });

  test("its good example has no error", () => {
    const { findings } = checkText(completed(rule.good), { file: "pack.yaml" });
    expect(findings.filter((finding) => finding.severity === "error")).toEqual([]);
  });
});
