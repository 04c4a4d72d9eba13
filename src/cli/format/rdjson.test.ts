// The Reviewdog Diagnostic Format and its byte columns.

import { expect, test } from "vitest";
import { problemsOf, rdjsonReport } from "../../../test/formats/json-schemas.ts";
import {
  options,
  sampleDiagnostic,
  sampleFile,
  sampleFix,
  sampleReport,
} from "../../../test/formats/sample-report.ts";
import { LineIndex } from "../../pack/read/line-index.ts";
import { reportOf } from "./check-report.ts";
import { rdjson } from "./rdjson.ts";

test("a finding has its place, severity, code and the fix as suggestions", () => {
  const document = JSON.parse(rdjson(sampleReport(sampleDiagnostic({ fix: sampleFix })), options)) as unknown;
  const range = { start: { line: 2, column: 14 }, end: { line: 2, column: 22 } };
  expect(problemsOf(rdjsonReport, document)).toEqual([]);
  expect(document).toEqual({
    source: { name: "packloop" },
    diagnostics: [
      {
        message:
          "State `test` sends `TestsFailed` to `implment`, which is not a state. " +
          "Every target in on_event must name a key of workflow.states. Rename the target, or add the state.",
        location: { path: "codegen.yaml", range },
        severity: "ERROR",
        code: { value: "PP203" },
        suggestions: [{ range, text: "implement" }],
      },
    ],
  });
});

test("severities are ERROR, WARNING and INFO", () => {
  const findings = (["error", "warning", "info"] as const).map((severity) => sampleDiagnostic({ severity }));
  const { diagnostics } = JSON.parse(rdjson(sampleReport(...findings), options)) as Document;
  expect(diagnostics.map((one) => one.severity)).toEqual(["ERROR", "WARNING", "INFO"]);
});

interface Document {
  readonly diagnostics: readonly {
    readonly severity: string;
    readonly location: { readonly range: { readonly start: Place; readonly end: Place } };
  }[];
}
interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where the byte column points in the line, which must be where the code point column points. */
test.each([
  ["ascii: x", "x"],
  ["é: x", "x"],
  ["日本: x", "x"],
  ["😀😀: x", "x"],
  ["a: 😀x", "😀"],
])("columns of %s count UTF-8 bytes", (line, target) => {
  const text = `# first\r\n${line}\r\nlast: 1\r\n`;
  const lines = new LineIndex(text);
  const start = text.indexOf(target);
  const at = lines.position(start);
  const end = lines.position(start + target.length);
  const finding = sampleDiagnostic({ ...at, endLine: end.line, endColumn: end.column });
  const document = JSON.parse(rdjson(reportOf([sampleFile([finding], { lines })]), options)) as Document;
  const { range } = document.diagnostics[0]?.location ?? {};
  const bytes = Buffer.from(line);
  expect(bytes.subarray((range?.start.column ?? 0) - 1, (range?.end.column ?? 0) - 1).toString()).toBe(
    target,
  );
});

test("an end behind the line's text counts its carriage return as one byte", () => {
  const lines = new LineIndex("é: 1\r\nb: 2\n");
  const finding = sampleDiagnostic({ line: 1, column: 1, endLine: 1, endColumn: 6 });
  const document = JSON.parse(rdjson(reportOf([sampleFile([finding], { lines })]), options)) as Document;
  expect(document.diagnostics[0]?.location.range.end).toEqual({ line: 1, column: 7 });
});
