// What the page says changed between two values, without a browser.

import { describe, expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import type { TreeChange } from "../../web/src/journal/journal-shapes.ts";
import { valueDiff } from "../../web/src/journal/value-diff.ts";

/** The tree as one line for each place that changed. */
function places(tree: readonly TreeChange[] | null, above = ""): readonly string[] {
  return (tree ?? []).flatMap((change): readonly string[] => {
    const at = `${above}/${change.key}`;
    switch (change.kind) {
      case "inside":
        return places(change.children, change.key === "" ? above : at);
      case "added":
        return [`+ ${at} ${change.after}`];
      case "removed":
        return [`- ${at} ${change.before}`];
      case "changed":
        return [`~ ${at} ${change.before} ${change.after}`];
      case "moved":
        return [`moved ${at}`];
    }
  });
}

const changes = (before: Json, after: Json): readonly string[] => places(valueDiff(before, after).tree);

describe("JSON", () => {
  test("is compared by keys, whatever their order", () => {
    expect(changes({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 4, c: 2 }, a: 1 })).toEqual(["~ /b/d 3 4"]);
    expect(changes({ a: 1 }, { b: 1 })).toEqual(["- /a 1", "+ /b 1"]);
    expect(changes({ a: [] }, { a: {} })).toEqual(["~ /a [] {}"]);
    expect(changes({ a: 1 }, { a: 1 })).toEqual([]);
  });

  test("matches items of lists by what identifies them", () => {
    const before = [
      { id: "x", n: 1 },
      { id: "y", n: 2 },
    ];
    expect(
      changes(before, [
        { id: "y", n: 2 },
        { id: "x", n: 3 },
      ]),
    ).toEqual(["~ /1/n 1 3"]);
    expect(changes(before, [{ id: "y", n: 2 }])).toEqual(['- /0 {\n  "id": "x",\n  "n": 1\n}']);
    expect(changes(before, before.toReversed())).toEqual(["moved /"]);
  });

  test("keeps as many other items as it can", () => {
    expect(changes([1, 2, 3], [0, 1, 2, 3])).toEqual(["+ /0 0"]);
    expect(changes([{ n: 1 }, { n: 2 }], [{ n: 1 }, { n: 5 }])).toEqual(["~ /1/n 2 5"]);
    expect(changes([{ id: 1 }, { id: 1 }], [{ id: 1 }])).toEqual(['- /1 {\n  "id": 1\n}']);
  });

  test("knows names that objects have by nature", () => {
    const odd = JSON.parse('{"__proto__": 1, "constructor": 2}') as Json;
    expect(changes({}, odd)).toEqual(["+ /__proto__ 1", "+ /constructor 2"]);
  });

  test("says when a list only grew", () => {
    expect(valueDiff([1], [1, 2])).toMatchObject({ isAppended: true, added: 1, removed: 0 });
    expect(valueDiff([1], [2])).toMatchObject({ isAppended: false });
    expect(valueDiff([], [1])).toMatchObject({ isAppended: false });
  });

  test("of any depth is compared", () => {
    let [before, after]: [Json, Json] = [1, 2];
    for (let level = 0; level < 3_000; level++) [before, after] = [{ in: before }, { in: after }];
    expect(valueDiff(before, after)).toMatchObject({ added: 1, removed: 1 });
  });

  test("with more changes than anybody reads is counted, and shown in part", () => {
    const list = (sign: number): Json =>
      Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`k${n}`, n * sign + 1]));
    const diff = valueDiff(list(1), list(-1));
    expect(diff.added).toBe(8_999);
    expect(places(diff.tree).length).toBe(4_000);
  });
});

describe("text", () => {
  const lines = (before: string, after: string) =>
    valueDiff(before, after).lines.map(({ kind, text }) => `${kind} ${text}`);

  test("is compared by lines, with a little of what stayed around them", () => {
    expect(lines("a\nb\nc", "a\nx\nc")).toEqual(["same a", "removed b", "added x", "same c"]);
    const long = Array.from({ length: 50 }, (_, n) => `line ${n}`).join("\n");
    expect(lines(long, long.replace("line 25", "other")).length).toBe(10);
  });

  test("that grew shows what was added", () => {
    expect(valueDiff("a\nb", "a\nb\nc")).toMatchObject({ isAppended: true, added: 1, removed: 0 });
    expect(valueDiff("a", "ab")).toMatchObject({ isAppended: false });
  });

  test("beside no value at all is all new, and beside JSON is compared as text", () => {
    expect(valueDiff(undefined, "a\nb")).toMatchObject({ added: 2, removed: 0, tree: null });
    expect(valueDiff("1", [1])).toMatchObject({ removed: 1, tree: null });
  });
});
