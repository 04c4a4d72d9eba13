// A test report: a suite per file, a case per finding, one passing case for a file without findings. Only
// what the common schema of JUnit readers knows is written: no `file` or `line` attributes of a case.

import type { Diagnostic } from "../../pack/diagnostic.ts";
import type { FileReport, Format } from "./check-report.ts";
import { XML_HEADER, xmlAttributes, xmlText } from "./xml-text.ts";

export const junit: Format = (report) => {
  const tests = report.files.reduce((sum, file) => sum + casesOf(file), 0);
  const failures = report.errors + report.warnings;
  const attributes = xmlAttributes({ name: "packloop", tests, failures, errors: 0 });
  const suites = report.files.map(suite).join("");
  return `${XML_HEADER}\n<testsuites${attributes}>\n${suites}</testsuites>\n`;
};

const casesOf = ({ diagnostics }: FileReport): number => Math.max(1, diagnostics.length);

function suite(report: FileReport): string {
  const { file, diagnostics } = report;
  const failures = diagnostics.filter((one) => one.severity !== "info").length;
  const attributes = xmlAttributes({ name: file, tests: casesOf(report), failures, errors: 0, skipped: 0 });
  const passed = `    <testcase${xmlAttributes({ name: "no findings", classname: file })}/>\n`;
  const cases = diagnostics.length === 0 ? passed : diagnostics.map(testCase).join("");
  return `  <testsuite${attributes}>\n${cases}  </testsuite>\n`;
}

function testCase(diagnostic: Diagnostic): string {
  const { code, severity, message, why, help, file, line, column } = diagnostic;
  const attributes = xmlAttributes({ name: `${code}: ${message}`, classname: file });
  const text = xmlText(`${file}:${line}:${column}: ${severity} ${code}: ${message}\n${why}\nhelp: ${help}`);
  const outcome =
    severity === "info"
      ? `<system-out>${text}</system-out>`
      : `<failure${xmlAttributes({ type: severity, message })}>${text}</failure>`;
  return `    <testcase${attributes}>\n      ${outcome}\n    </testcase>\n`;
}
