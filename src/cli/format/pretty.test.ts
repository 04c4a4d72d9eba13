// What people see: order, colour, carets and cuts, and nothing that could steer their terminal.

import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import {
  checkedFile,
  options,
  sampleDiagnostic,
  sampleFile,
  sampleFix,
  sampleRelated,
  sampleReport,
} from "../../../test/formats/sample-report.ts";
import type { Diagnostic } from "../../pack/diagnostic.ts";
import { LineIndex } from "../../pack/read/line-index.ts";
import { reportOf } from "./check-report.ts";
import { diagnosticText, pretty } from "./pretty.ts";

/** The two lines with the source and the caret, without the gutter, for a finding on `target`. */
function snippetOf(text: string, target: string, changes: Partial<Diagnostic> = {}): readonly string[] {
  const lines = new LineIndex(text);
  const start = text.indexOf(target);
  const at = lines.position(start);
  const end = lines.position(start + target.length);
  const finding = sampleDiagnostic({ ...at, endLine: end.line, endColumn: end.column, ...changes });
  return diagnosticText(finding, { lines })
    .split("\n")
    .slice(3, 5)
    .map((line) => line.slice(line.indexOf("|") + 2));
}

test("a finding shows the line, the caret, related places, why and what to do", () => {
  const finding = sampleDiagnostic({
    label: "did you mean `implement`?",
    related: [sampleRelated({ line: 1, column: 3, message: "the first leg" })],
    fix: sampleFix,
  });
  expect(pretty(sampleReport(finding), options)).toBe(`error PP203: ${finding.message}
 --> codegen.yaml:2:14
  |
2 | TestsFailed: implment
  |              ^^^^^^^^ did you mean \`implement\`?
  = 1:3: the first leg
  = every target in on_event must name a key of workflow.states
  = help: rename the target, or add the state [--unsafe-fixes]

1 error in 1 file
`);
});

test("infos come after the errors and warnings of all files, each group in its order", () => {
  const found = (file: string, line: number, severity: Diagnostic["severity"]) =>
    sampleDiagnostic({
      file,
      line,
      endLine: line,
      column: 1,
      endColumn: 2,
      severity,
      message: `${file}${line}`,
    });
  const files = ["b", "a"].map((file) => {
    const diagnostics = [found(file, 1, "info"), found(file, 2, "warning"), found(file, 3, "error")];
    return sampleFile(diagnostics, { file });
  });
  const printed = pretty(reportOf(files), options);
  const names = [...printed.matchAll(/^(?:error|warning|info) PP203: (.*)$/gm)].map(([, name]) => name);
  expect(names.join(" ")).toBe("b2 b3 a2 a3 b1 a1");
  expect(printed).toMatch(/\n\n2 errors, 2 warnings, 2 info in 2 files\n$/);
});

test("colour adds escapes and changes no text", () => {
  const report = sampleReport(
    sampleDiagnostic({ label: "label" }),
    sampleDiagnostic({ severity: "warning" }),
    sampleDiagnostic({ severity: "info" }),
  );
  const colored = pretty(report, { ...options, color: true });
  const plain = pretty(report, options);
  expect(plain).not.toContain("\u001b");
  expect(stripVTControlCharacters(colored)).toBe(plain);
  expect(colored).toContain("\u001b[31merror PP203\u001b[39m");
  expect(colored).toContain("\u001b[33mwarning PP203\u001b[39m");
  expect(colored).toContain("\u001b[36minfo PP203\u001b[39m");
});

test("a clean report says so", () => {
  expect(pretty(sampleReport(), options)).toBe("ok: 1 file, nothing to report\n");
});

test("the summary counts what --fix would mend", () => {
  const finding = sampleDiagnostic({ severity: "warning", fix: { ...sampleFix, applicability: "safe" } });
  const printed = pretty(sampleReport(finding, sampleDiagnostic({ fix: sampleFix })), options);
  expect(printed).toContain("or add the state [--fix]\n");
  expect(printed).toMatch(/\n1 error, 1 warning in 1 file \(1 fixable\)\n$/);
});

test("the certificate is shown when asked for, behind all findings", () => {
  const prompts = "prompts: { p: { id: p, name: P, version: 1.0.0, system_template: x } }";
  const clean = `id: s
name: S
version: 1.0.0
${prompts}
`;
  const file = { ...checkedFile("a.yaml", clean), diagnostics: [sampleDiagnostic({ severity: "info" })] };
  expect(pretty(reportOf([file]), { ...options, bound: true })).toMatch(
    /\n\na\.yaml: bounded by guards .*\n {2}visits/,
  );
  expect(pretty(reportOf([file]), options)).not.toContain("bounded");
});

test("the caret stands under its character behind tabs, wide characters, emoji and combining marks", () => {
  expect(snippetOf("a:\tx\n", "x")).toEqual(["a: x", "   ^"]);
  expect(snippetOf("日本: x\n", "x")).toEqual(["日本: x", "      ^"]);
  expect(snippetOf("😀: x\n", "x")).toEqual(["😀: x", "    ^"]);
  expect(snippetOf("e\u0301: x\n", "x")).toEqual(["e\u0301: x", "   ^"]);
  expect(snippetOf("한글ＡＢ: x\n", "x")).toEqual(["한글ＡＢ: x", "          ^"]);
});

test("the caret is as long as what it marks is wide", () => {
  expect(snippetOf("a: 日本 # b\n", "日本")).toEqual(["a: 日本 # b", "   ^^^^"]);
  expect(snippetOf("a: e\u0301e\n", "e\u0301e")).toEqual(["a: e\u0301e", "   ^^"]);
});

test("an empty span and a span at the end of the line have one caret", () => {
  expect(snippetOf("a: 1\n", "1", { endColumn: 4 })).toEqual(["a: 1", "   ^"]);
  expect(snippetOf("a: 1\r\nb: 2\n", "\r")).toEqual(["a: 1", "    ^"]);
  expect(snippetOf("", "", { column: 1, endColumn: 1 })).toEqual(["", "^"]);
});

test("a span over several lines is marked to the end of its first", () => {
  expect(snippetOf("a: { b: 1,\n  c: 2 }\n", "{ b: 1,\n  c: 2 }")).toEqual(["a: { b: 1,", "   ^^^^^^^"]);
});

test("a long line is cut around the mistake", () => {
  const before = `${"a".repeat(500)} `;
  const [shown, caret] = snippetOf(`${before}target ${"b".repeat(500)}\n`, "target");
  expect(shown?.length).toBe(162);
  expect(shown).toMatch(/^…a+ target b+…$/);
  expect(shown?.indexOf("target")).toBe(caret?.indexOf("^"));
  expect(caret?.trim()).toBe("^^^^^^");
});

test("a long line is cut only on the side where there is more", () => {
  expect(snippetOf(`target ${"b".repeat(500)}\n`, "target")[0]).toMatch(/^target b{153}…$/);
  expect(snippetOf(`${"a".repeat(500)} target\n`, "target")[0]).toMatch(/^…a{153} target$/);
});

test("the caret of a mistake longer than the screen ends with what is shown", () => {
  const [shown, caret] = snippetOf(`x: ${"y".repeat(900)}\n`, "y".repeat(900));
  expect([shown?.length, caret?.length]).toEqual([161, 160]);
});

test("no text of a pack reaches the terminal with control characters or direction marks", () => {
  const evil = "a\u001b[2J\u009b\u0007\r\n\u202eb";
  const finding = sampleDiagnostic({
    message: evil,
    why: evil,
    help: evil,
    label: evil,
    file: evil,
    related: [sampleRelated({ message: evil })],
  });
  const lines = new LineIndex(`TestsFailed: \u001b[31m\u202e\n`.repeat(3));
  const printed = pretty(reportOf([sampleFile([finding], { lines })]), options);
  expect(printed).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  expect(printed.split("\n").length).toBe(
    pretty(sampleReport(sampleDiagnostic()), options).split("\n").length + 1,
  );
  expect(printed).toContain("error PP203: a·[2J·····b\n");
});

test("a line that holds a secret is not shown", () => {
  expect(snippetOf("key: s3cret\n", "s3cret", { hideSource: true })).toEqual(["(not shown)", "^^^^^^^^^^^"]);
});
