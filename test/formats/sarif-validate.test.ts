// The validator of SARIF's authors accepts what we write.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { reportOf } from "../../src/cli/format/check-report.ts";
import { sarif } from "../../src/cli/format/sarif.ts";
import { anyReport } from "./any-report.ts";
import {
  checkedFile,
  options,
  sampleDiagnostic,
  sampleFile,
  sampleFix,
  sampleRelated,
  sampleReport,
} from "./sample-report.ts";
import { validatorFindings } from "./sarif-multitool.ts";

// It asks every tool for a page about itself; the project names none yet.
const known = ["warning SARIF2005: Warning_ProvideToolnformationUri"];

test("a report with related places, a path and a fix has no errors and no warnings", () => {
  const related = [sampleRelated(), sampleRelated({ line: 2, column: 3 })];
  const report = sampleReport(
    sampleDiagnostic({ fix: sampleFix }),
    sampleDiagnostic({ related: related.slice(1), severity: "warning" }),
    sampleDiagnostic({ related, severity: "info", pointer: "" }),
  );
  expect(validatorFindings(sarif(report, options))).toEqual(known);
});

test("file names of every kind give valid locations", () => {
  const names = [
    "a b.yaml",
    "./a.yaml",
    "../up/ä%20.yaml",
    "/abs/日本#?.yaml",
    "c:\\x.yaml",
    "a:b",
    "<stdin>",
    "[x]{y}|^",
  ];
  const files = names.map((file) => sampleFile([sampleDiagnostic({ file })], { file }));
  expect(validatorFindings(sarif(reportOf(files), options))).toEqual(known);
});

test("findings of a real check are valid", () => {
  const file = checkedFile(
    "broken.yaml",
    "id: 1\nprompts: []\nworkflow: { version: 2, entry: nowhere, states: {} }\n",
  );
  expect(file.diagnostics.length).toBeGreaterThan(2);
  expect(validatorFindings(sarif(reportOf([file]), options))).toEqual(known);
});

test("an empty report is valid", () => {
  expect(validatorFindings(sarif(reportOf([]), options))).toEqual(known);
});

test("hostile text is valid", () => {
  const files = fc.sample(anyReport, { numRuns: 60, seed: 7 }).flatMap((report) => report.files);
  const found = validatorFindings(sarif(reportOf(files), options));
  expect(found).toEqual(known);
});

test("the validator is really asked: a broken log is refused", () => {
  const broken = sarif(sampleReport(sampleDiagnostic()), options).replaceAll("codegen.yaml", "not a uri");
  expect(validatorFindings(broken)).toContain("error SARIF1002: Error_UrisMustConformToRfc3986");
});
