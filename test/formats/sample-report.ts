// Small reports for the tests of the formats.

import { type CheckReport, type FileReport, reportOf } from "../../src/cli/format/check-report.ts";
import { checkText } from "../../src/pack/check-text.ts";
import { type Diagnostic, locate, type RelatedDiagnostic } from "../../src/pack/diagnostic.ts";
import { LineIndex } from "../../src/pack/read/line-index.ts";

export const options = { color: false, bound: false, version: "1.2.3" } as const;

const SAMPLE_TEXT = "first: 1\nTestsFailed: implment\nlast: 3\n";

/** A finding on `implment` in the second line of the sample text. */
export function sampleDiagnostic(changes: Partial<Diagnostic> = {}): Diagnostic {
  return {
    code: "PP203",
    severity: "error",
    message: "state `test` sends `TestsFailed` to `implment`, which is not a state",
    why: "every target in on_event must name a key of workflow.states",
    help: "rename the target, or add the state",
    label: "",
    file: "codegen.yaml",
    line: 2,
    column: 14,
    endLine: 2,
    endColumn: 22,
    pointer: "/workflow/states/test/on_event/TestsFailed",
    related: [],
    fix: null,
    data: { state: "test", event: "TestsFailed", target: "implment" },
    ...changes,
  };
}

export function sampleRelated(changes: Partial<RelatedDiagnostic> = {}): RelatedDiagnostic {
  return {
    message: "`test` is entered",
    file: "codegen.yaml",
    line: 1,
    column: 1,
    pointer: "/workflow",
    ...changes,
  };
}

export const sampleFix = {
  applicability: "unsafe",
  title: "send it to `implement`",
  edits: [{ start: 22, end: 30, text: "implement" }],
} as const;

export function sampleFile(
  diagnostics: readonly Diagnostic[],
  changes: Partial<FileReport> = {},
): FileReport {
  return { file: "codegen.yaml", lines: new LineIndex(SAMPLE_TEXT), diagnostics, packs: [], ...changes };
}

/** One file with these findings. */
export function sampleReport(...diagnostics: readonly Diagnostic[]): CheckReport {
  return reportOf([sampleFile(diagnostics)]);
}

/** What the checker itself says of a text. */
export function checkedFile(file: string, text: string): FileReport {
  const lines = new LineIndex(text);
  const { findings, packs } = checkText(text, { file });
  return { file, lines, packs, diagnostics: findings.map((finding) => locate(finding, file, lines)) };
}
