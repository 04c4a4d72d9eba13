// Workflow commands and their escaping.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyReport } from "../../../test/formats/any-report.ts";
import { options, sampleDiagnostic, sampleReport } from "../../../test/formats/sample-report.ts";
import { github } from "./github.ts";

test("severities become error, warning and notice, with place, title and what to do", () => {
  const changes = { message: "what", help: "fix" };
  const report = sampleReport(
    sampleDiagnostic(changes),
    sampleDiagnostic({ ...changes, severity: "warning" }),
    sampleDiagnostic({ ...changes, severity: "info" }),
  );
  const place = "file=codegen.yaml,line=2,endLine=2,col=14,endColumn=22,title=PP203";
  expect(github(report, options)).toBe(
    `::error ${place}::what — fix\n::warning ${place}::what — fix\n::notice ${place}::what — fix\n`,
  );
});

test("a span over several lines has no columns, which GitHub would refuse", () => {
  const finding = sampleDiagnostic({ message: "what", help: "fix", endLine: 3, endColumn: 2 });
  expect(github(sampleReport(finding), options)).toBe(
    "::error file=codegen.yaml,line=2,endLine=3,title=PP203::what — fix\n",
  );
});

test("percent, line ends, colons and commas are escaped where they would be read as syntax", () => {
  const finding = sampleDiagnostic({ file: "50%,a:b\r\n.yaml", message: "50%, a: b\r\n", help: "%0A" });
  const [line] = github(sampleReport(finding), options).split("\n");
  expect(line).toContain("file=50%25%2Ca%3Ab%0D%0A.yaml,line=2");
  expect(line).toMatch(/::50%25, a: b%0D%0A — %250A$/);
});

test("whatever the names, decoding gives them back", () => {
  fc.assert(
    fc.property(anyReport, (report) => {
      const findings = report.files.flatMap((file) => file.diagnostics);
      const commands = github(report, options).split("\n").slice(0, -1).map(decode);
      expect(
        commands.map(({ properties, message }) => [properties.get("file"), properties.get("line"), message]),
      ).toEqual(
        findings.map(({ file, line, message, help }) => [file, String(line), `${message} — ${help}`]),
      );
    }),
    { numRuns: 300 },
  );
});

/** The runner's reading of a command: up to the second `::` properties, unescaped after they were split. */
function decode(line: string) {
  const [, list, message] = /^::(?:error|warning|notice) (.*?)::(.*)$/s.exec(line) ?? [];
  const properties = new Map<string, string>();
  for (const property of (list as string).split(",")) {
    const at = property.indexOf("=");
    properties.set(property.slice(0, at), unescape(property.slice(at + 1), ["%3A", "%2C"]));
  }
  return { properties, message: unescape(message as string, []) };
}

function unescape(text: string, more: readonly string[]): string {
  let plain = text.replaceAll("%0D", "\r").replaceAll("%0A", "\n");
  for (const code of more) plain = plain.replaceAll(code, decodeURIComponent(code));
  return plain.replaceAll("%25", "%");
}
