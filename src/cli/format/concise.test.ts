// One line for each finding, whatever is in it.

import { expect, test } from "vitest";
import { options, sampleDiagnostic, sampleFix, sampleReport } from "../../../test/formats/sample-report.ts";
import { concise } from "./concise.ts";

test("a finding is one line with place, severity, code and what is wrong", () => {
  expect(concise(sampleReport(sampleDiagnostic()), options)).toBe(
    "codegen.yaml:2:14: error PP203: state `test` sends `TestsFailed` to `implment`, which is not a state\n",
  );
});

test("the mark says whether a fix is safe", () => {
  const message = "x";
  const safe = sampleDiagnostic({
    message,
    severity: "warning",
    fix: { ...sampleFix, applicability: "safe" },
  });
  const unsafe = sampleDiagnostic({ message, fix: sampleFix });
  expect(concise(sampleReport(safe, unsafe), options)).toBe(
    "codegen.yaml:2:14: warning PP203: x [fix]\ncodegen.yaml:2:14: error PP203: x [unsafe fix]\n",
  );
});

test("a name with a line end stays on the line", () => {
  const finding = sampleDiagnostic({ file: "a\nb.yaml", message: "state `a\r\nb\u001b[31m`" });
  expect(concise(sampleReport(finding), options)).toBe("a·b.yaml:2:14: error PP203: state `a··b·[31m`\n");
});

test("nothing to report prints nothing", () => {
  expect(concise(sampleReport(), options)).toBe("");
});
