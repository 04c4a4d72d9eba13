// Whatever a pack holds, every format stays well-formed, says the same twice, and names every finding.

import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CheckReport } from "../../src/cli/format/check-report.ts";
import { type FormatName, formatNames, formats } from "../../src/cli/format/formats.ts";
import { anyReport } from "./any-report.ts";
import { gitlabReport, jsonlLine, jsonReport, problemsOf, rdjsonReport } from "./json-schemas.ts";
import { parseXml, type XmlElement } from "./parse-xml.ts";
import { options } from "./sample-report.ts";
import { sarifSchema } from "./sarif-multitool.ts";
import { checkstyleSchema, junitSchema, xmlProblems } from "./xml-schemas.ts";

const print = (format: FormatName, report: CheckReport) =>
  formats[format](report, { ...options, bound: true });
const findingsOf = (report: CheckReport) => report.files.flatMap((file) => file.diagnostics);

function holdsFor(check: (report: CheckReport) => void): void {
  const property = fc.property(anyReport, (report) => {
    check(report);
  });
  fc.assert(property, { numRuns: 300 });
}

test.each(formatNames)("%s prints the same report twice alike and ends its last line", (format) => {
  holdsFor((report) => {
    const printed = print(format, report);
    expect(print(format, structuredCopy(report))).toBe(printed);
    expect(printed === "" || printed.endsWith("\n")).toBe(true);
  });
});

/** Equal in every value, sharing no object but the line index. */
function structuredCopy(report: CheckReport): CheckReport {
  const files = report.files.map((file) => ({
    ...file,
    diagnostics: structuredClone(file.diagnostics),
    packs: structuredClone(file.packs),
  }));
  return { ...report, files };
}

describe("for people", () => {
  const steers = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

  test.each(["pretty", "concise"] as const)("%s lets nothing through that steers a terminal", (format) => {
    holdsFor((report) => expect(print(format, report)).not.toMatch(steers));
  });

  test("concise has a line for every finding", () => {
    holdsFor((report) => {
      const lines = print("concise", report).split("\n").slice(0, -1);
      expect(lines.length).toBe(findingsOf(report).length);
      for (const [index, line] of lines.entries()) expect(line).toContain(findingsOf(report)[index]?.code);
    });
  });
});

describe("JSON", () => {
  // Strict readers refuse escapes of half a surrogate pair.
  const half = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

  test.each([
    ["json", jsonReport],
    ["gitlab", gitlabReport],
    ["rdjson", rdjsonReport],
  ] as const)("%s follows its schema", (format, schema) => {
    holdsFor((report) => {
      const printed = print(format, report);
      expect(printed).not.toMatch(half);
      expect(problemsOf(schema, JSON.parse(printed))).toEqual([]);
    });
  });

  test("json carries every finding as it is, but for halves of surrogate pairs", () => {
    holdsFor((report) => {
      const document = JSON.parse(print("json", report)) as {
        diagnostics: { message: string; file: string }[];
      };
      const expected = findingsOf(report).map(({ message, file }) => [
        message.toWellFormed(),
        file.toWellFormed(),
      ]);
      expect(document.diagnostics.map(({ message, file }) => [message, file])).toEqual(expected);
    });
  });

  test("jsonl has a line for each finding and one for the summary, also where U+2028 splits lines", () => {
    holdsFor((report) => {
      const lines = print("jsonl", report).split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/);
      expect(lines.pop()).toBe("");
      expect(lines.length).toBe(findingsOf(report).length + 1);
      for (const line of lines) expect(problemsOf(jsonlLine, JSON.parse(line))).toEqual([]);
    });
  });

  test("gitlab gives every finding a fingerprint of its own", () => {
    holdsFor((report) => {
      const issues = JSON.parse(print("gitlab", report)) as { fingerprint: string }[];
      expect(new Set(issues.map((issue) => issue.fingerprint)).size).toBe(findingsOf(report).length);
    });
  });
});

describe("XML", () => {
  test("junit follows its schema and its counts add up", () => {
    holdsFor((report) => {
      const root = parseXml(print("junit", report));
      expect(xmlProblems(root, junitSchema)).toEqual([]);
      for (const element of [root, ...root.children]) expect(counts(element)).toEqual(counted(element));
      expect(root.children.length).toBe(report.files.length);
    });
  });

  test("checkstyle follows its schema and keeps messages", () => {
    holdsFor((report) => {
      const root = parseXml(print("checkstyle", report));
      expect(xmlProblems(root, checkstyleSchema)).toEqual([]);
      const messages = root.children.flatMap((file) =>
        file.children.map((one) => one.attributes.get("message")),
      );
      expect(messages).toEqual(findingsOf(report).map(({ message, help }) => asXml(`${message} — ${help}`)));
    });
  });

  const asXml = (text: string) =>
    text.toWellFormed().replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
  const counts = ({ attributes }: XmlElement) => [
    Number(attributes.get("tests")),
    Number(attributes.get("failures")),
  ];
  const counted = (element: XmlElement) => {
    const cases = element.name === "testcase" ? [element] : casesIn(element);
    return [cases.length, cases.filter((one) => one.children[0]?.name === "failure").length];
  };
  const casesIn = (element: XmlElement): readonly XmlElement[] =>
    element.children.flatMap((child) => (child.name === "testcase" ? [child] : casesIn(child)));
});

describe("SARIF", () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const schema = ajv.compile(sarifSchema());

  test("follows the published schema", () => {
    holdsFor((report) => expect(problemsOf(schema, JSON.parse(print("sarif", report)))).toEqual([]));
  });
});
