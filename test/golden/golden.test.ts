// G7: journals written by a release fold for ever to what they folded to then. When one of these tests fails,
// the fold changed its mind about the past: mend the fold, or lift old rows in `upcast`; the files stay.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { TurnRow } from "../../src/core/facts.ts";
import { type Golden, goldenOf } from "./folded.ts";

const here = new URL("./", import.meta.url);
const releases = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const rowsOf = (release: string, name: string): readonly TurnRow[] =>
  readFileSync(new URL(`${release}/${name}.jsonl`, here), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TurnRow);

test("there is a folder for 0.1.0", () => {
  expect(releases).toContain("0.1.0");
});

describe.each(releases)("journals of %s", (release) => {
  const digests = JSON.parse(readFileSync(new URL(`${release}/digests.json`, here), "utf8")) as Record<
    string,
    Golden
  >;
  const names = readdirSync(new URL(`${release}/`, here))
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => file.slice(0, -".jsonl".length));

  test("each journal has a digest and each digest a journal", () => {
    expect(names.toSorted()).toEqual(Object.keys(digests).toSorted());
  });

  test.each(names)("%s folds to what it was", (name) => {
    expect(goldenOf(rowsOf(release, name))).toEqual(digests[name]);
  });

  test("they hold every kind of fact that release wrote", () => {
    const facts = names.flatMap((name) => rowsOf(release, name).flatMap((row) => row.facts));
    const kinds = new Set(
      facts.map((fact) => {
        if (fact.type === "asked") return `asked ${fact.ask.kind}`;
        return fact.type === "noted" ? `noted ${fact.what}` : fact.type;
      }),
    );
    for (const kind of ["started", "forked", "entered", "answered", "wrote", "finished"])
      expect(kinds).toContain(kind);
    for (const kind of ["model", "tool", "agent", "approval", "event", "message", "timer", "reply", "stop"])
      expect(kinds).toContain(`asked ${kind}`);
    for (const kind of [
      "result",
      "scheduled",
      "message",
      "nudge",
      "handoff",
      "in_doubt",
      "deferred",
      "retried",
    ])
      expect(kinds).toContain(`noted ${kind}`);
    for (const kind of ["dedupe", "unwritten"]) expect(kinds).toContain(`noted ${kind}`);
  });
});

test("a journal that differs in one value folds to something else", () => {
  const rows = rowsOf("0.1.0", "codegen-script");
  const [first, ...rest] = rows;
  const later = first === undefined ? [] : [{ ...first, at: first.at + 1 }, ...rest];
  expect(goldenOf(later).sha256).not.toBe(goldenOf(rows).sha256);
  expect(goldenOf(rows.slice(0, -1)).sha256).not.toBe(goldenOf(rows).sha256);
});
