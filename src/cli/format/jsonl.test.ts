// The lines of `--format jsonl`.

import { expect, test } from "vitest";
import { options, sampleDiagnostic, sampleFix, sampleReport } from "../../../test/formats/sample-report.ts";
import { json } from "./json.ts";
import { jsonl } from "./jsonl.ts";

test("each finding is the line it would be in json, and the summary comes last", () => {
  const report = sampleReport(
    sampleDiagnostic({ fix: { ...sampleFix, applicability: "safe" } }),
    sampleDiagnostic({ severity: "warning" }),
    sampleDiagnostic({ severity: "info" }),
  );
  const lines = jsonl(report, options).trimEnd().split("\n");
  const last = JSON.parse(lines.pop() as string) as unknown;
  const { diagnostics } = JSON.parse(json(report, options)) as { diagnostics: unknown };
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(diagnostics);
  expect(last).toEqual({ summary: { files: 1, errors: 1, warnings: 1, infos: 1, fixable: 1, bounds: {} } });
});

test("a clean report is the summary alone", () => {
  expect(jsonl(sampleReport(), options)).toBe(
    '{"summary":{"files":1,"errors":0,"warnings":0,"infos":0,"fixable":0,"bounds":{}}}\n',
  );
});
