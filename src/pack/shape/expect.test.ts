import { expect, test } from "vitest";
import { expected } from "./expect.ts";
import { shapes } from "./generated/shapes.ts";
import type { Shape } from "./shape.ts";

test("every pattern of the schema has words of its own", () => {
  const nameless: string[] = [];
  for (const [name, shape] of Object.entries(shapes)) {
    // The kind of a vendor's step is explained together with the other kinds.
    if (name === "VendorStep") continue;
    visit(shape, name, (node, at) => {
      if (node.pattern !== undefined && expected(node) === "text") nameless.push(at);
    });
  }
  expect(nameless).toEqual([]);
});

function visit(shape: Shape, at: string, look: (shape: Shape, at: string) => void): void {
  look(shape, at);
  for (const [key, member] of Object.entries(shape.properties ?? {})) visit(member, `${at}.${key}`, look);
  if (shape.items !== undefined) visit(shape.items, `${at}[]`, look);
  if (typeof shape.rest === "object") visit(shape.rest, `${at}.*`, look);
}

test.each<[string, Shape]>([
  ["a whole number of at least 1", { type: ["integer"], minimum: 1 }],
  ["a number from 0 to 2", { type: ["number"], minimum: 0, maximum: 2 }],
  ["a number above 0", { type: ["number"], exclusiveMinimum: 0 }],
  ["a whole number or `null`", { type: ["integer", "null"] }],
  ["one of `a`, `b`", { enum: ["a", "b"] }],
  ["`1`", { enum: [1] }],
  ["text or a mapping", { forms: [{ type: ["string"] }, { type: ["object"] }, { type: ["object"] }] }],
])("an expectation reads as %s", (words, shape) => {
  expect(expected(shape)).toBe(words);
});
