import { expect, test } from "vitest";
import { answerOf, cut, redactor } from "./tool-result.ts";

const limits = { maxBytes: 100, redact: (text: string) => text };

test("structured content wins over text", () => {
  const content = [{ type: "text", text: "{}" }];
  expect(answerOf({ content, structuredContent: [1] }, limits)).toEqual({ ok: true, value: [1] });
  expect(answerOf({ content, structuredContent: null }, limits)).toEqual({ ok: true, value: null });
});

test("texts are joined, and nothing is nothing", () => {
  const content = [{ type: "text", text: "a" }, { type: "text", text: "b" }, 5];
  expect(answerOf({ content }, limits)).toEqual({ ok: true, value: "a\nb" });
  expect(answerOf({ content: [] }, limits)).toEqual({ ok: true, value: null });
  expect(answerOf({}, limits)).toEqual({ ok: true, value: null });
});

test("what is not text is described", () => {
  const data = Buffer.from("sound").toString("base64");
  const content = [
    { type: "audio", data, mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "x://1", blob: data } },
    { type: "resource", resource: { uri: "x://2", text: "small" } },
    { type: "resource_link", uri: "x://3", name: "three" },
  ];
  const answer = answerOf({ content }, { ...limits, maxBytes: 1000 });
  expect(answer).toMatchObject({
    value: {
      content: [
        { type: "audio", mime_type: "audio/wav", bytes: 5, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { type: "resource", uri: "x://1", bytes: 5 },
        { type: "resource", uri: "x://2", text: "small" },
        { type: "resource_link", uri: "x://3", name: "three" },
      ],
    },
  });
});

test("many parts are counted", () => {
  const content = Array.from({ length: 130 }, (_, n) => ({ type: "resource_link", uri: `x://${n}` }));
  const answer = answerOf({ content }, { ...limits, maxBytes: 100_000 });
  expect(answer).toMatchObject({ value: { left_out: 30 } });
});

test("an error is an error, in the words of the tool", () => {
  const failed = { isError: true, content: [{ type: "text", text: "no such file" }] };
  expect(answerOf(failed, limits)).toEqual({ ok: false, code: "tool_error", message: "no such file" });
  expect(answerOf({ isError: true }, limits)).toMatchObject({ ok: false, message: '"the tool failed"' });
});

test("a text is cut between characters, at the limit and not before", () => {
  expect(cut("abcd", 4)).toBe("abcd");
  expect(cut("abcde", 4)).toBe("abcd\n[cut: 1 of 5 bytes left out]");
  expect(cut("aé", 2)).toBe("a\n[cut: 2 of 3 bytes left out]");
});

test("secrets are replaced by their names, longer ones first, and short values are left", () => {
  const redact = redactor(
    new Map([
      ["SHORT", "abc"],
      ["PART", "secret"],
      ["WHOLE", "secret-and-more"],
    ]),
  );
  expect(redact("abc secret secret-and-more")).toBe("abc [PART] [WHOLE]");
});
