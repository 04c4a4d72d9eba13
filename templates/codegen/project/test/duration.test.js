import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "../src/duration.js";

test("one unit", () => {
  assert.equal(parseDuration("90s"), 90);
});

test("several units", () => {
  assert.equal(parseDuration("1h 30m"), 5400);
});

test("spaces between count and unit", () => {
  assert.equal(parseDuration("2 h 5 s"), 7205);
});

test("parts of a unit", () => {
  assert.equal(parseDuration("1.5h"), 5400);
});

test("text that is no duration", () => {
  assert.throws(() => parseDuration("soon"), RangeError);
});
