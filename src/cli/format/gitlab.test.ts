// The Code Quality report and the stability of its fingerprints.

import { expect, test } from "vitest";
import { gitlabReport, problemsOf } from "../../../test/formats/json-schemas.ts";
import { checkedFile, options, sampleDiagnostic, sampleReport } from "../../../test/formats/sample-report.ts";
import type { Diagnostic } from "../../pack/diagnostic.ts";
import { type CheckReport, reportOf } from "./check-report.ts";
import { gitlab } from "./gitlab.ts";

interface Issue {
  readonly fingerprint: string;
  readonly severity: string;
  readonly location: { readonly path: string };
}

const issuesOf = (report: CheckReport) => JSON.parse(gitlab(report, options)) as readonly Issue[];
const printOf = (changes: Partial<Diagnostic>) =>
  issuesOf(sampleReport(sampleDiagnostic(changes)))[0]?.fingerprint;

test("a finding is an issue of the Code Quality report", () => {
  const issues = issuesOf(sampleReport(sampleDiagnostic({ endLine: 3 })));
  expect(problemsOf(gitlabReport, issues)).toEqual([]);
  expect(issues).toEqual([
    {
      description:
        "state `test` sends `TestsFailed` to `implment`, which is not a state" +
        " — rename the target, or add the state",
      check_name: "PP203",
      // Computed by another program from ["PP203","codegen.yaml","/workflow/…",{"event":…,…}].
      fingerprint: "a6b991ed63e26c389dd7c06d1889e435ab482a50fb1d12c61c95f71fa8b5a010",
      severity: "critical",
      location: { path: "codegen.yaml", lines: { begin: 2, end: 3 } },
    },
  ]);
});

test("severities are critical, major and minor", () => {
  const severities = (["error", "warning", "info"] as const).map((severity) =>
    sampleDiagnostic({ severity }),
  );
  expect(issuesOf(sampleReport(...severities)).map((one) => one.severity)).toEqual([
    "critical",
    "major",
    "minor",
  ]);
});

test("no findings are an empty list", () => {
  expect(gitlab(sampleReport(), options)).toBe("[]\n");
});

test("paths are written as the repository lists them", () => {
  const [issue] = issuesOf(sampleReport(sampleDiagnostic({ file: "./packs/a.yaml" })));
  expect(issue?.location.path).toBe("packs/a.yaml");
});

test("the fingerprint stays when lines, numbers or wording change", () => {
  const data = { state: "test", limit: 3 };
  const same = printOf({ data });
  expect(printOf({ data, line: 9, column: 1, endLine: 9, endColumn: 4 })).toBe(same);
  expect(printOf({ data: { ...data, limit: 4 }, message: "other words", severity: "warning" })).toBe(same);
  expect(printOf({ data, file: "./codegen.yaml" })).toBe(same);
});

test("the fingerprint differs by code, file, place and names", () => {
  const prints = [
    printOf({}),
    printOf({ code: "PP301" }),
    printOf({ file: "other.yaml" }),
    printOf({ pointer: "/workflow" }),
    printOf({ data: { state: "test", event: "TestsFailed", target: "impl" } }),
    printOf({ data: { states: ["test", "TestsFailed"] } }),
  ];
  expect(new Set(prints).size).toBe(prints.length);
});

test("equal findings are told apart, and the first keeps its fingerprint", () => {
  const twice = issuesOf(
    sampleReport(sampleDiagnostic(), sampleDiagnostic({ line: 3 }), sampleDiagnostic({ line: 4 })),
  );
  expect(new Set(twice.map((one) => one.fingerprint)).size).toBe(3);
  expect(twice[0]?.fingerprint).toBe(printOf({}));
});

test("a comment above a mistake does not make it a new finding", () => {
  const text = "id: s\nprompts: []\nworkflow: 3\n";
  const [before, after] = [text, `# more\n\n${text}`].map((one) =>
    issuesOf(reportOf([checkedFile("p.yaml", one)])),
  );
  expect(before?.length).toBeGreaterThan(1);
  expect(after?.map((one) => one.fingerprint)).toEqual(before?.map((one) => one.fingerprint));
});
