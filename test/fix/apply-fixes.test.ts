// Fixes on every pack the rules' fixtures hold: each is a pack with a mistake put in on purpose.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkText } from "../../src/pack/check-text.ts";
import type { Finding } from "../../src/pack/diagnostic.ts";
import { applyFixes } from "../../src/pack/fix/apply-fixes.ts";
import { completed, parseCases, readCaseConfig } from "../rules/rule-cases.ts";

const folder = new URL("../../testdata/rules/", import.meta.url);

interface Pack {
  readonly title: string;
  readonly text: string;
  readonly file: string;
  readonly config: string;
}

function packsOf(name: string): readonly Pack[] {
  return parseCases(readFileSync(new URL(name, folder), "utf8"))
    .filter((one) => one.kind === "bad")
    .map((one) => {
      const raw = one.pack.startsWith("#raw\n");
      const text = raw ? one.pack.slice("#raw\n".length) : completed(one.pack);
      const file = text.trimStart().startsWith("{") ? "pack.json" : "pack.yaml";
      return { title: `${name} ${one.title}`, text, file, config: one.config };
    });
}

const packs = readdirSync(folder).flatMap(packsOf);

function fixed(pack: Pack, text: string, unsafe: boolean) {
  const { config, strict } = readCaseConfig(pack.config);
  return applyFixes(text, { file: pack.file, config, strict, unsafe, choose: (findings) => findings });
}

function check(pack: Pack, text: string) {
  return checkText(text, { file: pack.file, ...readCaseConfig(pack.config) });
}

const fixable = (findings: readonly Finding[], kind: "safe" | "unsafe") =>
  findings.filter((one) => one.fix?.applicability === kind).length;

/** A comment at the end of every line that can take one: outside texts that go over several lines. */
function withComments(text: string): string {
  return text
    .split("\n")
    .map((line, index) => (/[}\]\w]$/.test(line) && !/[|>#"']/.test(line) ? `${line} # line ${index}` : line))
    .join("\n");
}

const comments = (text: string) => text.match(/# line \d+/g) ?? [];

test("there is something to mend", () => {
  const counts = packs.map((pack) => fixable(check(pack, pack.text).findings, "safe"));
  expect(counts.filter((count) => count > 0).length).toBeGreaterThan(20);
});

describe.each([
  ["--fix", false],
  ["--unsafe-fixes", true],
] as const)("%s", (_name, unsafe) => {
  test.each(packs.map((pack) => [pack.title, pack] as const))("%s", (_title, pack) => {
    const before = check(pack, pack.text);
    const once = fixed(pack, pack.text, unsafe);
    expect(once.refused).toBeUndefined();
    expect(fixed(pack, once.text, unsafe).text, "a second time changes nothing").toBe(once.text);
    const after = check(pack, once.text);
    const errors = (findings: readonly Finding[]) =>
      findings.filter((one) => one.severity === "error").length;
    expect(errors(after.findings)).toBeLessThanOrEqual(errors(before.findings));
    expect(fixable(after.findings, "safe"), "no safe fix is left").toBe(0);
    if (!unsafe) expect(after.packs.map((one) => one.digest)).toEqual(before.packs.map((one) => one.digest));
  });
});

test("comments on lines that stay, stay", () => {
  let kept = 0;
  for (const pack of packs.filter((one) => one.file === "pack.yaml")) {
    const text = withComments(pack.text);
    if (check(pack, text).findings.some((one) => one.code === "PP102" || one.code === "PP104")) continue;
    const { text: after } = fixed(pack, text, false);
    const linesLost = text.split("\n").length - after.split("\n").length;
    const commentsLost = comments(text).length - comments(after).length;
    expect(commentsLost, `${pack.title}\n${after}`).toBeLessThanOrEqual(Math.max(0, linesLost));
    if (after !== text) kept += comments(after).length;
  }
  expect(kept).toBeGreaterThan(50);
});
