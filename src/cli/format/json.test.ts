// The document of `--format json`, byte for byte.

import { expect, test } from "vitest";
import {
  checkedFile,
  options,
  sampleDiagnostic,
  sampleFix,
  sampleRelated,
  sampleReport,
} from "../../../test/formats/sample-report.ts";
import { reportOf } from "./check-report.ts";
import { json } from "./json.ts";

test("the document has counts, findings with every field in a fixed order, and bounds", () => {
  const finding = sampleDiagnostic({
    label: "did you mean `implement`?",
    fix: sampleFix,
    related: [sampleRelated()],
  });
  expect(json(sampleReport(finding), options)).toBe(`{
  "files": 1,
  "errors": 1,
  "warnings": 0,
  "diagnostics": [
    {
      "code": "PP203",
      "severity": "error",
      "message": "state \`test\` sends \`TestsFailed\` to \`implment\`, which is not a state",
      "why": "every target in on_event must name a key of workflow.states",
      "help": "rename the target, or add the state",
      "label": "did you mean \`implement\`?",
      "file": "codegen.yaml",
      "line": 2,
      "column": 14,
      "endLine": 2,
      "endColumn": 22,
      "pointer": "/workflow/states/test/on_event/TestsFailed",
      "related": [
        {
          "message": "\`test\` is entered",
          "file": "codegen.yaml",
          "line": 1,
          "column": 1,
          "pointer": "/workflow"
        }
      ],
      "fix": {
        "applicability": "unsafe",
        "title": "send it to \`implement\`",
        "edits": [
          {
            "start": 22,
            "end": 30,
            "text": "implement"
          }
        ]
      },
      "data": {
        "state": "test",
        "event": "TestsFailed",
        "target": "implment"
      }
    }
  ],
  "bounds": {}
}
`);
});

test("the order of a finding's own keys does not matter", () => {
  const finding = sampleDiagnostic();
  const reversed = Object.fromEntries(Object.entries(finding).reverse()) as unknown as typeof finding;
  expect(json(sampleReport(reversed), options)).toBe(json(sampleReport(finding), options));
});

test("a finding without fix has null, and findings of several files follow each other", () => {
  const files = ["b.yaml", "a.yaml"].map((file) => checkedFile(file, "id: [\n"));
  const document = JSON.parse(json(reportOf(files), options)) as { files: number; diagnostics: Finding[] };
  expect(document.files).toBe(2);
  expect(document.diagnostics.map(({ file, fix }) => [file, fix])).toEqual([
    ["b.yaml", null],
    ["a.yaml", null],
  ]);
});

interface Finding {
  readonly file: string;
  readonly fix: unknown;
}

test("offsets of edits count UTF-16 units where columns count code points", () => {
  const text = 'id: "😀"\nwrokflow: {}\nname: N\nversion: 1.0.0\n';
  const report = reportOf([checkedFile("pack.yaml", text)]);
  const { diagnostics } = JSON.parse(json(report, options)) as { diagnostics: readonly Located[] };
  const renamed = diagnostics.find((one) => one.fix !== null);
  expect(renamed).toMatchObject({
    line: 2,
    column: 1,
    fix: { edits: [{ start: 9, end: 17, text: "workflow" }] },
  });
});

interface Located {
  readonly fix: unknown;
}
