// Escaping for XML 1.0.

import { expect, test } from "vitest";
import { xmlText } from "./xml-text.ts";

test("markup is written as references, so that no value can end its attribute or section", () => {
  expect(xmlText(`<a b="c" d='e'>&]]>`)).toBe("&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;]]&gt;");
});

test("white space that a reader would change is written as references", () => {
  expect(xmlText("a\tb\r\nc d")).toBe("a&#9;b&#13;&#10;c d");
});

test("what XML 1.0 forbids becomes the replacement character, the rest stays", () => {
  expect(xmlText("\u0000\u0008\u000b\u001b\u001f\ufffe\uffff\ud800")).toBe("\ufffd".repeat(8));
  expect(xmlText("\u0085\u2028\u202e😀\ue000\ufffd")).toBe("\u0085\u2028\u202e😀\ue000\ufffd");
});
