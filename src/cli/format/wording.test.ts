// Clauses as running text.

import { expect, test } from "vitest";
import { sampleDiagnostic } from "../../../test/formats/sample-report.ts";
import { sentence, sentences, statement } from "./wording.ts";

test.each([
  ["the schema requires it", "The schema requires it."],
  ["add it", "Add it."],
  ["max_visits is missing", "max_visits is missing."],
  ["`a` is odd", "`a` is odd."],
  ["did you mean `plan`?", "Did you mean `plan`?"],
  ["x", "X."],
  ["", "."],
])("%j as a sentence is %j", (clause, expected) => {
  expect(sentence(clause)).toBe(expected);
});

test("the three clauses are joined; empty ones are left out", () => {
  const finding = sampleDiagnostic({ message: "it is wrong", why: "", help: "mend it" });
  expect(sentences(finding)).toBe("It is wrong. Mend it.");
  expect(statement(finding)).toBe("it is wrong — mend it");
});
