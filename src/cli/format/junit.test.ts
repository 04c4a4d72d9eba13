// The test report, byte for byte, and what a reader of it gets back.

import { expect, test } from "vitest";
import { parseXml } from "../../../test/formats/parse-xml.ts";
import { options, sampleDiagnostic, sampleFile, sampleReport } from "../../../test/formats/sample-report.ts";
import { junitSchema, xmlProblems } from "../../../test/formats/xml-schemas.ts";
import { reportOf } from "./check-report.ts";
import { junit } from "./junit.ts";

test("a suite per file, a case per finding, one passing case for a clean file", () => {
  const changes = { message: "what <it> is", why: "why & so", help: "fix" };
  const findings = [
    sampleDiagnostic(changes),
    sampleDiagnostic({ ...changes, severity: "warning" }),
    sampleDiagnostic({ ...changes, severity: "info" }),
  ];
  const report = reportOf([sampleFile(findings), sampleFile([], { file: "clean.yaml" })]);
  const text = (severity: string) =>
    `codegen.yaml:2:14: ${severity} PP203: what &lt;it&gt; is&#10;why &amp; so&#10;help: fix`;
  const opening = '    <testcase name="PP203: what &lt;it&gt; is" classname="codegen.yaml">\n';
  expect(junit(report, options)).toBe(
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="packloop" tests="4" failures="2" errors="0">
  <testsuite name="codegen.yaml" tests="3" failures="2" errors="0" skipped="0">
${opening}      <failure type="error" message="what &lt;it&gt; is">${text("error")}</failure>
    </testcase>
${opening}      <failure type="warning" message="what &lt;it&gt; is">${text("warning")}</failure>
    </testcase>
${opening}      <system-out>${text("info")}</system-out>
    </testcase>
  </testsuite>
  <testsuite name="clean.yaml" tests="1" failures="0" errors="0" skipped="0">
    <testcase name="no findings" classname="clean.yaml"/>
  </testsuite>
</testsuites>
`,
  );
  expect(xmlProblems(parseXml(junit(report, options)), junitSchema)).toEqual([]);
});

test("line ends and markup in a message come back when the report is read", () => {
  const message = "a\r\n\t\"b\" <c> & ]]> 'd'";
  const root = parseXml(junit(sampleReport(sampleDiagnostic({ message })), options));
  const failure = root.children[0]?.children[0]?.children[0];
  expect(failure?.attributes.get("message")).toBe(message);
  expect(failure?.text).toContain(message);
});
