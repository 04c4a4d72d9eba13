// Secrets in every dress a tool or a model may give them, and texts made to slow the search for them down.

import { describe, expect, test } from "vitest";
import { findCredential } from "../../src/base/credentials.ts";
import type { Input } from "../../src/core/input.ts";
import { Redaction } from "../../src/engine/redaction.ts";

const secret = 'tr0ub4dor&3 "q/+=~\\ö';
const long = "Zm9vYmFyYmF6-1234567890-abcdefghij";

function knowing(...values: readonly string[]): Redaction {
  const redaction = new Redaction();
  values.forEach((value, index) => redaction.add(`KEY_${index}`, value));
  return redaction;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a known secret is hidden", () => {
  const dresses: readonly (readonly [string, (value: string) => string])[] = [
    ["as it is", (value) => value],
    ["in the query of a URL", (value) => `?key=${encodeURIComponent(value)}&x=1`],
    [
      "in a URL with small digits",
      (value) => encodeURIComponent(value).replace(/%../g, (c) => c.toLowerCase()),
    ],
    ["as a form sends it", (value) => new URLSearchParams({ key: value }).toString()],
    ["inside a JSON text", (value) => JSON.stringify({ key: value })],
    ["inside a JSON text inside a JSON text", (value) => JSON.stringify(JSON.stringify({ key: value }))],
    ["in base 64", base64],
    ["in base 64 for URLs", (value) => Buffer.from(value).toString("base64url")],
    ["in base 64 with one character before it", (value) => base64(`:${value}`)],
    ["in base 64 with two characters before it", (value) => base64(`u:${value}`)],
    ["in base 64 with text around it", (value) => base64(`user:${value}\nrest`)],
    ["in hexadecimal", (value) => Buffer.from(value).toString("hex")],
    ["in large hexadecimal", (value) => Buffer.from(value).toString("hex").toUpperCase()],
    ["in HTML", (value) => value.replaceAll("&", "&amp;").replaceAll('"', "&quot;")],
  ];
  test.each(dresses)("%s", (_dress, dressed) => {
    for (const value of [secret, long]) {
      const shown = knowing(value).text(`before ${dressed(value)} after`);
      expect(shown).toContain("[redacted KEY_0]");
      expect(shown).toMatch(/^before .*after$/s);
      for (const [, other] of dresses) expect(shown).not.toContain(other(value).slice(4, -4));
    }
  });

  test("when a limit cut it in two", () => {
    const shown = knowing(long).json([`see ${long.slice(0, 20)}`, `${long.slice(-20)} is the key`]);
    expect(shown).toEqual(["see [redacted KEY_0]", "[redacted KEY_0] is the key"]);
  });

  test("but a few characters of it are ordinary text", () => {
    expect(knowing(long).text(`${long.slice(0, 8)} and ${long.slice(-8)}`)).not.toContain("redacted");
  });

  test("when its variable ends with a line break that nobody sends", () => {
    expect(knowing(`${long}\n`).text(`<${long}>`)).toBe("<[redacted KEY_0]>");
  });

  test("when it is the password inside an address", () => {
    const redaction = knowing("postgres://app:s3cr%40t-horse@db.example:5432/books");
    expect(redaction.text("password authentication failed for s3cr@t-horse")).not.toContain("s3cr@t-horse");
    expect(redaction.text("s3cr%40t-horse")).not.toContain("horse");
  });

  test("line by line when it has several", () => {
    const lines = [
      "-----BEGIN OWN KEY-----",
      "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo",
      "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo",
    ];
    const shown = knowing(lines.join("\n")).text(lines.map((line, at) => `${at}: ${line}`).join("\r\n"));
    expect(shown).not.toContain(lines[1]);
    expect(shown).not.toContain(lines[2]);
  });

  test("when it is a number among other numbers", () => {
    expect(knowing("4711081599").json({ pin: 4711081599, n: 12 })).toEqual({
      pin: "[redacted KEY_0]",
      n: 12,
    });
  });
});

describe("an answer", () => {
  const marked = { usage: 1, extra: { echoed: long }, text: "ok" };

  test("of a tool is clean also when it looks like a model's", () => {
    const input: Input = { type: "answer", at: 1, step: 2, tool: "t", outcome: { ok: true, value: marked } };
    expect(JSON.stringify(knowing(long).input(input))).not.toContain(long);
  });

  test("of a person is clean also when it looks like a model's", () => {
    const input: Input = { type: "answer", at: 1, step: 2, by: "eve", outcome: { ok: true, value: marked } };
    expect(JSON.stringify(knowing(long).input(input))).not.toContain(long);
  });

  test("of a model loses what its provider signed when a known secret is in it", () => {
    const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
    const extra = { from: "m", parts: [{ reasoning: `the key is ${long}` }] };
    const value = { text: "done", calls: [], usage, extra };
    const input: Input = { type: "answer", at: 1, step: 2, hash: "h", outcome: { ok: true, value } };
    expect(knowing(long).input(input)).toEqual({
      ...input,
      outcome: { ok: true, value: { text: "done", calls: [], usage } },
    });
  });
});

test("what a tool left to go on with is kept whatever its form, but for known secrets", () => {
  const token = `${["ey", "JhbGciOiJIUzI1NiJ9"].join("")}.eyJzdWIiOiJldmUifQ.q8Zr4Wt1Ym6Kc3Hs9Bv2Nd7Lf5Gx0Jp8`;
  const hold: Input = { type: "hold", at: 1, step: 2, hold: "deferred", handle: { state: token, key: long } };
  expect(knowing(long).input(hold)).toEqual({ ...hold, handle: { state: token, key: "[redacted KEY_0]" } });
});

test("what a server says about its tools is clean before a run starts with it", () => {
  const host = { t: { description: `use ${long}`, parameters: { default: long } } };
  const input: Input = {
    ...{ type: "start", at: 1, digest: "d", mode: "autonomous", variables: { key: long }, input: "" },
    host,
  };
  const clean = knowing(long).input(input);
  expect(JSON.stringify((clean as { host?: unknown }).host)).not.toContain(long);
  // What a person gives a run to work with is theirs to give.
  expect(clean).toHaveProperty("variables.key", long);
});

describe("a text made to slow the search down is searched in time with its length", () => {
  const issued = ["sk", "-ant-api03-", "Kq7ZxW3vTn9RbLm2YcPd5HsJ8fGaUeXi4VtQ"].join("");
  const shapes: readonly (readonly [string, (n: number) => string])[] = [
    ["lines that look like the head of a key", (n) => `-----BEGIN PRIVATE KEY-----\n${"A: ".repeat(n)}`],
    [
      "blanks behind the head of a key",
      (n) => `-----BEGIN PRIVATE KEY-----${" ".repeat(n)}A: ${" \n".repeat(n)}`,
    ],
    ["heads of keys", (n) => "-----BEGIN PRIVATE KEY-----\n".repeat(n)],
    ["keys one after the other, and hints of others", (n) => `${issued} gh AKIA eyJ xox `.repeat(n)],
    ["names of secrets without a value", (n) => "my_api_key_password = ".repeat(n)],
    ["beginnings of a token", (n) => "eyJ".repeat(n)],
    ["the first half of a known secret", (n) => long.slice(0, 17).repeat(n)],
  ];
  test.each(shapes)(
    "%s",
    (_name, text) => {
      const redaction = knowing(long);
      // A hundred times the text that takes minutes when the search is cubic, and half of one when quadratic.
      const hostile = text(40_000);
      redaction.text(hostile);
      findCredential(hostile, undefined);
    },
    10_000,
  );

  test("keys one after the other are all hidden", () => {
    const shown = new Redaction().text(`${issued} `.repeat(5_000));
    expect(shown).toBe("[redacted: an API key] ".repeat(5_000));
  });
});
