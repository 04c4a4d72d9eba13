// File names as URI references.

import { expect, test } from "vitest";
import { fileUri } from "./file-uri.ts";

test.each([
  ["packs/a.yaml", "packs/a.yaml"],
  ["./packs/a.yaml", "packs/a.yaml"],
  ["../a.yaml", "../a.yaml"],
  ["a b%20#?.yaml", "a%20b%2520%23%3F.yaml"],
  ["c:x.yaml", "c%3Ax.yaml"],
  ["<stdin>", "%3Cstdin%3E"],
  ["日本/😀.yaml", "%E6%97%A5%E6%9C%AC/%F0%9F%98%80.yaml"],
  ["a\ud800.yaml", "a%EF%BF%BD.yaml"],
  ["a\nb.yaml", "a%0Ab.yaml"],
])("relative %j is %s", (file, uri) => {
  expect(fileUri(file)).toBe(uri);
});

test("an absolute path is a file URI", () => {
  expect(fileUri("/abs/a b#.yaml")).toBe("file:///abs/a%20b%23.yaml");
});
