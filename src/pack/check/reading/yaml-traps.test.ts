// Texts that other YAML readers take for something else.

import { expect, test } from "vitest";
import { readElsewhereAs } from "./yaml-traps.ts";

test.each([
  ["y", "true"],
  ["Yes", "true"],
  ["ON", "true"],
  ["True", "true"],
  ["n", "false"],
  ["no", "false"],
  ["Off", "false"],
  ["~", "null"],
  ["NULL", "null"],
  ["012", "10"],
  ["-012", "-10"],
  ["08", "8"],
  ["0x1F", "31"],
  ["0b101", "5"],
  ["0o17", "15"],
  ["1e3", "1000"],
  ["1.0", "1"],
  [".5", "0.5"],
  ["+5", "5"],
  ["1_000", "1000"],
  ["1:30", "90"],
  ["-1:30:00", "-5400"],
])("%s is seen as %s", (text, seen) => {
  expect(readElsewhereAs(text)).toBe(seen);
});

test.each([
  "yEs",
  "yess",
  "None",
  "Done",
  "0",
  "404",
  "-7",
  "0.5",
  "1.5.0",
  "v1",
  "e3",
  "_1",
  "1:75",
  "",
  "nan",
  "a_1",
])("%s is a text to every reader, or the same number written in the same way", (text) => {
  expect(readElsewhereAs(text)).toBeUndefined();
});
