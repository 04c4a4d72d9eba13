import { expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import { commitNamed } from "./commit-name.ts";

const sha = "0123456789abcdef0123456789abcdef01234567";

test("artifacts that point to a commit are told from all others", () => {
  const cases: readonly (readonly [Json, string | null])[] = [
    [sha, sha],
    ["a1b2c3d", "a1b2c3d"],
    [`first\n${sha}\n`, sha],
    [{ sha, changed: true, files: 1 }, sha],
    [{ commit: "a1b2c3d" }, "a1b2c3d"],
    [["x", sha], sha],
    [{ sha: null, changed: false }, null],
    ["1234567", null],
    ["abc", null],
    [`--output=${sha}`, null],
    ["deadbeef..HEAD", null],
    [`${sha} and more`, null],
    [JSON.parse('{"__proto__": {"sha": "a1b2c3d"}}') as Json, null],
    [[], null],
    [7, null],
    [null, null],
  ];
  for (const [value, name] of cases) expect([value, commitNamed(value)]).toEqual([value, name]);
});
