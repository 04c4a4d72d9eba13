// A secret that comes in pieces must not be put together again by who watches.

import { describe, expect, test } from "vitest";
import { CleanStream } from "../../src/engine/clean-stream.ts";
import { Redaction } from "../../src/engine/redaction.ts";

const secret = "Zm9vYmFyYmF6-1234567890-abcdefghij";
const phrase = "correct horse battery staple";
// Put together at run time: scanners of repositories would take whole ones for leaks.
const issued = ["sk", "-ant-api03-", "Kq7ZxW3vTn9RbLm2YcPd5HsJ8fGaUeXi4VtQ"].join("");
const assigned = ["api_key", "q8Zr4Wt1Ym6Kc3Hs9Bv2"].join(" = ");
const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(3);
const key = ["-----BEGIN", `KEY-----\n${body}\n-----END`, "KEY-----"].join(" PRIVATE ");

function shown(pieces: readonly string[]): readonly string[] {
  const redaction = new Redaction();
  redaction.add("KEY", secret);
  redaction.add("PHRASE", phrase);
  const seen: string[] = [];
  const stream = new CleanStream(redaction, (text) => seen.push(text));
  for (const piece of pieces) stream.add(piece);
  stream.end();
  return seen;
}

/** A text in pieces of every length from one character up. */
const inPieces = (text: string, length: number): readonly string[] =>
  text.match(new RegExp(`[\\s\\S]{1,${length}}`, "g")) ?? [];

describe.each([
  ["a known value", secret, "[redacted KEY]"],
  ["a known value with blanks", phrase, "[redacted PHRASE]"],
  ["a known value in base 64", Buffer.from(secret).toString("base64"), "[redacted KEY]"],
  ["a credential known by its form", issued, "[redacted: an API key]"],
  ["a value that a name says is secret", assigned, "api_key = [redacted: an API key]"],
  ["a private key", key, "[redacted: a private key]", body],
])("%s", (_name, hidden, mark, core = hidden) => {
  test.each([1, 2, 3, 5, 7, 13, 29, 10_000])("in pieces of %i characters is hidden", (length) => {
    const all = shown(inPieces(`It is ${hidden} and so on.`, length)).join("");
    expect(all).toContain(`It is ${mark}`);
    expect(all).toMatch(/and so on\.$/);
    expect(all).not.toContain(core.slice(-16, -4));
  });

  test("is hidden at the end of a stream too", () => {
    expect(shown(inPieces(`It is ${hidden}`, 4)).join("")).not.toContain(core.slice(-20, -4));
  });
});

test("text without secrets comes whole and in order, and words are not held for long", () => {
  const text = "One two three: « quatre », 五六七八九十。 -----BEGIN of the end\n".repeat(20);
  for (const length of [1, 4, 9]) expect(shown(inPieces(text, length)).join("")).toBe(text);
  expect(shown(["One two th", "ree four "])).toEqual(["One two ", "three four "]);
  // No blanks are written in Chinese; only ASCII can be a credential.
  expect(shown(["五六", "七八"])).toEqual(["五六", "七八"]);
});

test("a text that only begins like a secret is shown once it goes on otherwise", () => {
  const seen = shown(["a correct h", "int ", "won"]);
  expect(seen.join("")).toBe("a correct hint won");
  expect(seen).toEqual(["a ", "correct hint ", "won"]);
});

test("an endless word is not held for ever", () => {
  const seen = shown(inPieces("x".repeat(50_000), 100));
  expect(seen.join("")).toBe("x".repeat(50_000));
  expect(seen.length).toBeGreaterThan(5);
});
