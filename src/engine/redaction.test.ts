import { describe, expect, test } from "vitest";
import type { Input } from "../core/input.ts";
import { Redaction } from "./redaction.ts";

// Put together at run time: scanners of repositories would take whole ones for leaks.
const issued = ["sk", "-ant-api03-", "Kq7ZxW3vTn9RbLm2YcPd5HsJ8fGaUeXi4VtQ"].join("");

function withSecret(): Redaction {
  const redaction = new Redaction();
  redaction.add("DB_PASSWORD", "hunter2hunter2");
  redaction.add("DB_PASSWORD_OLD", "hunter2");
  redaction.add("SHORT", "abc");
  return redaction;
}

test("known values are hidden wherever they stand, the longest first, keys included", () => {
  const value = { hunter2hunter2: ["see hunter2hunter2, once hunter2", 7, null], abc: "abc" };
  expect(withSecret().json(value)).toEqual({
    "[redacted DB_PASSWORD]": ["see [redacted DB_PASSWORD], once [redacted DB_PASSWORD_OLD]", 7, null],
    abc: "abc",
  });
});

test("credentials are hidden by their form, every one of them", () => {
  expect(new Redaction().text(`a ${issued} b ${issued}`)).toBe(
    "a [redacted: an API key] b [redacted: an API key]",
  );
});

test("what holds no secret stays the same object", () => {
  const value = { a: [1, { b: "text" }] };
  expect(withSecret().json(value)).toBe(value);
});

describe("an input", () => {
  const answer = (value: object): Input => ({
    type: "answer",
    at: 1,
    step: 2,
    outcome: { ok: true, value: value as never },
  });

  test("is clean before it is decided on", () => {
    expect(withSecret().input(answer({ out: "hunter2" }))).toEqual(
      answer({ out: "[redacted DB_PASSWORD_OLD]" }),
    );
  });

  test("keeps what a provider signed as it is, whatever form it has, and is clean beside it", () => {
    const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
    const said = { text: "hunter2", calls: [], usage, extra: { signature: issued } };
    const signed = (value: object): Input => ({ ...answer(value), hash: "of the request" }) as Input;
    expect(withSecret().input(signed(said))).toEqual(signed({ ...said, text: "[redacted DB_PASSWORD_OLD]" }));
  });
});
