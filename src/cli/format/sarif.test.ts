// What SARIF results and rules hold. That they are valid is tested in test/formats.

import { expect, test } from "vitest";
import {
  options,
  sampleDiagnostic,
  sampleFile,
  sampleFix,
  sampleRelated,
  sampleReport,
} from "../../../test/formats/sample-report.ts";
import { rules } from "../../pack/check/rules.ts";
import { LineIndex } from "../../pack/read/line-index.ts";
import { type CheckReport, reportOf } from "./check-report.ts";
import { gitlab } from "./gitlab.ts";
import { sarif } from "./sarif.ts";

interface Run {
  readonly tool: { readonly driver: { readonly version: string; readonly rules: readonly Descriptor[] } };
  readonly columnKind: string;
  readonly results: readonly Record<string, unknown>[];
}
interface Descriptor {
  readonly id: string;
  readonly name: string;
  readonly shortDescription: { readonly text: string };
  readonly fullDescription: { readonly text: string };
  readonly help: { readonly text: string; readonly markdown: string };
  readonly defaultConfiguration: { readonly level: string };
}

function runOf(report: CheckReport): Run {
  const log = JSON.parse(sarif(report, options)) as { version: string; runs: readonly [Run] };
  expect(log.version).toBe("2.1.0");
  return log.runs[0];
}

const place = (region: object, uri = "codegen.yaml") => ({ artifactLocation: { uri }, region });

test("a finding is a result with rule, level, message, place and pointer", () => {
  const report = sampleReport(sampleDiagnostic());
  const { results, columnKind, tool } = runOf(report);
  expect(columnKind).toBe("unicodeCodePoints");
  expect(tool.driver.version).toBe("1.2.3");
  const [issue] = JSON.parse(gitlab(report, options)) as [{ fingerprint: string }];
  expect(results).toEqual([
    {
      ruleId: "PP203",
      ruleIndex: rules.findIndex((rule) => rule.code === "PP203"),
      level: "error",
      message: {
        text:
          "State `test` sends `TestsFailed` to `implment`, which is not a state. " +
          "Every target in on_event must name a key of workflow.states. Rename the target, or add the state.",
      },
      locations: [
        {
          physicalLocation: place({ startLine: 2, startColumn: 14, endLine: 2, endColumn: 22 }),
          logicalLocations: [{ fullyQualifiedName: "/workflow/states/test/on_event/TestsFailed" }],
        },
      ],
      partialFingerprints: { "packloop/v1": issue.fingerprint },
    },
  ]);
});

test("levels are error, warning and note", () => {
  const findings = (["error", "warning", "info"] as const).map((severity) => sampleDiagnostic({ severity }));
  expect(runOf(sampleReport(...findings)).results.map((one) => one["level"])).toEqual([
    "error",
    "warning",
    "note",
  ]);
});

test("one related place is a related location, two are also a path", () => {
  const related = [
    sampleRelated(),
    sampleRelated({ message: "`done` is never entered", line: 3, column: 2 }),
  ];
  const [one, two] = runOf(
    sampleReport(sampleDiagnostic({ related: related.slice(0, 1) }), sampleDiagnostic({ related })),
  ).results;
  const first = {
    physicalLocation: place({ startLine: 1, startColumn: 1 }),
    message: { text: "`test` is entered." },
  };
  const second = {
    physicalLocation: place({ startLine: 3, startColumn: 2 }),
    message: { text: "`done` is never entered." },
  };
  expect(one).toMatchObject({ relatedLocations: [{ id: 1, ...first }] });
  expect(one).not.toHaveProperty("codeFlows");
  expect(two?.["relatedLocations"]).toEqual([
    { id: 1, ...first },
    { id: 2, ...second },
  ]);
  expect(two?.["codeFlows"]).toEqual([
    { threadFlows: [{ locations: [{ location: first }, { location: second }] }] },
  ]);
});

test("a fix gives regions in code points; a deletion inserts nothing", () => {
  const lines = new LineIndex("😀: old\nnext: 1\n");
  const edits = [
    { start: 4, end: 7, text: "new" },
    { start: 8, end: 16, text: "" },
  ];
  const finding = sampleDiagnostic({ fix: { ...sampleFix, edits } });
  const [result] = runOf(reportOf([sampleFile([finding], { lines })])).results;
  expect(result?.["fixes"]).toEqual([
    {
      description: { text: "Send it to `implement`." },
      artifactChanges: [
        {
          artifactLocation: { uri: "codegen.yaml" },
          replacements: [
            {
              deletedRegion: { startLine: 1, startColumn: 4, endLine: 1, endColumn: 7 },
              insertedContent: { text: "new" },
            },
            { deletedRegion: { startLine: 2, startColumn: 1, endLine: 3, endColumn: 1 } },
          ],
        },
      ],
      properties: { applicability: "unsafe" },
    },
  ]);
});

test("names from a pack make no link", () => {
  const finding = sampleDiagnostic({ message: "state `[here](https://example.org)` is odd" });
  expect(JSON.stringify(runOf(sampleReport(finding)).results)).toContain("`[here\\\\](https://example.org)`");
});

test("every rule is described with an identifier, sentences and examples", () => {
  const { rules: described } = runOf(sampleReport()).tool.driver;
  expect(described.map((one) => one.id)).toEqual(rules.map((rule) => rule.code));
  const badNames = described.filter((one) => !/^(?:[A-Z][a-z0-9]+)+$/.test(one.name)).map((one) => one.name);
  expect(badNames).toEqual([]);
  const poor = described.filter(
    ({ shortDescription, fullDescription, help }) =>
      !shortDescription.text.endsWith(".") ||
      !help.text.startsWith(fullDescription.text) ||
      !help.markdown.includes("```yaml\n"),
  );
  expect(poor.map((one) => one.id)).toEqual([]);
});

test("a rule's description follows from the catalogue", () => {
  const rule = runOf(sampleReport()).tool.driver.rules.find((one) => one.id === "PP203");
  expect(rule).toMatchObject({
    name: "EventTargetIsNotState",
    shortDescription: { text: "Event target is not a state." },
    defaultConfiguration: { level: "error" },
  });
});
