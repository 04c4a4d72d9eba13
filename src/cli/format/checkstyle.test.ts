// The Checkstyle report, byte for byte.

import { expect, test } from "vitest";
import { parseXml } from "../../../test/formats/parse-xml.ts";
import { options, sampleDiagnostic, sampleFile } from "../../../test/formats/sample-report.ts";
import { checkstyleSchema, xmlProblems } from "../../../test/formats/xml-schemas.ts";
import { reportOf } from "./check-report.ts";
import { checkstyle } from "./checkstyle.ts";

test("findings stand under their file with place, severity and source; clean files are listed", () => {
  const changes = { message: "what `a` & `b`", help: "fix" };
  const findings = (["error", "warning", "info"] as const).map((severity) =>
    sampleDiagnostic({ ...changes, severity }),
  );
  const printed = checkstyle(
    reportOf([sampleFile(findings), sampleFile([], { file: "clean.yaml" })]),
    options,
  );
  const text = "what `a` &amp; `b` — fix";
  const error = (severity: string) =>
    `    <error line="2" column="14" severity="${severity}" message="${text}" source="packloop.PP203"/>`;
  expect(printed).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<checkstyle version="4.3">
  <file name="codegen.yaml">
${error("error")}
${error("warning")}
${error("info")}
  </file>
  <file name="clean.yaml">
  </file>
</checkstyle>
`);
  expect(xmlProblems(parseXml(printed), checkstyleSchema)).toEqual([]);
});
