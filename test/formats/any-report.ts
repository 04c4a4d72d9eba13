// Reports with the worst a pack can hold in every text field, for property tests of the formats.

import * as fc from "fast-check";
import type { Json, Path } from "../../src/base/json.ts";
import { type CheckReport, type FileReport, reportOf } from "../../src/cli/format/check-report.ts";
import { rules } from "../../src/pack/check/rules.ts";
import type { CheckedPack } from "../../src/pack/check-text.ts";
import { type Diagnostic, type Finding, type Fix, locate } from "../../src/pack/diagnostic.ts";
import type { Bound, Verdict } from "../../src/pack/flow/bound.ts";
import { LineIndex } from "../../src/pack/read/line-index.ts";
import { checkedFile } from "./sample-report.ts";

const nasty = [
  ["\u0000", "\u0008", "\t", "\n", "\r", "\r\n", "\u000b", "\u001b[31m", "\u007f", "\u0085", "\u009b2J"],
  ["\u200b", "\u200f", "\u2028", "\u202e", "\u2066", "\ufeff", "\ufffe", "\uffff", "\ud800", "\udc00"],
  ['"', "'", "<", ">", "&", "&amp;", "]]>", "<!--", "<![CDATA[", "\\", "\\u", "\\ud800", "`", "```"],
  [
    "%",
    "%0A",
    ":",
    "::",
    ",",
    "::error::",
    "](https://example.org)",
    "[",
    "{0}",
    "{{x}}",
    "#",
    "?",
    "/",
    "../",
  ],
  ["😀", "e\u0301", "日本", "שלום", "__proto__", "constructor"],
].flat();

const anyText: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    { arbitrary: fc.constantFrom(...nasty), weight: 2 },
    { arbitrary: fc.string({ maxLength: 3 }), weight: 1 },
  ),
  maxLength: 12,
});

const anyName = anyText.filter((text) => text !== "");
const anyPath: fc.Arbitrary<Path> = fc.array(fc.oneof(anyText, fc.nat({ max: 9 })), { maxLength: 4 });
const anyData: fc.Arbitrary<Readonly<Record<string, Json>>> = fc.dictionary(
  anyName,
  fc.oneof(anyText, fc.nat(), fc.constant(null), fc.array(anyText, { maxLength: 3 })),
  { maxKeys: 4 },
);

function anySpan(text: string) {
  const offset = fc.nat({ max: text.length });
  return fc.tuple(offset, offset).map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) }));
}

function anyFix(text: string): fc.Arbitrary<Fix | null> {
  const edit = fc.tuple(anySpan(text), anyText).map(([span, inserted]) => ({ ...span, text: inserted }));
  const fix = fc.record({
    applicability: fc.constantFrom("safe" as const, "unsafe" as const),
    title: anyText,
    edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
  });
  return fc.option(fix);
}

function anyDiagnostic(file: string, lines: LineIndex): fc.Arbitrary<Diagnostic> {
  const { text } = lines;
  const finding: fc.Arbitrary<Finding> = fc.record({
    code: fc.constantFrom(...rules.map((rule) => rule.code)),
    severity: fc.constantFrom("error" as const, "warning" as const, "info" as const),
    message: anyText,
    why: anyText,
    help: anyText,
    label: anyText,
    span: anySpan(text),
    path: anyPath,
    related: fc.array(fc.record({ message: anyText, span: anySpan(text), path: anyPath }), { maxLength: 3 }),
    fix: anyFix(text),
    data: anyData,
  });
  return finding.map((one) => locate(one, file, lines));
}

const anyCount = fc.option(fc.nat());

const anyBound: fc.Arbitrary<Bound> = fc.record({
  entry: anyText,
  verdict: fc.constantFrom<Verdict>("guards", "budget", "time", "unbounded", "undecided"),
  exact: fc.boolean(),
  configurations: fc.nat(),
  visits: anyCount,
  modelCalls: anyCount,
  toolCalls: anyCount,
  wallTimeSec: anyCount,
  perState: fc.dictionary(anyName, anyCount, { maxKeys: 3 }),
  proof: fc.constant(null),
  witness: fc.option(
    fc.record({
      prefix: fc.array(anyName, { maxLength: 3 }),
      cycle: fc.array(anyName, { minLength: 1, maxLength: 3 }),
    }),
  ),
  longestRun: fc.array(anyName, { maxLength: 4 }),
});

const [basePack] = checkedFile("base.yaml", "id: base\n").packs;

const anyPack: fc.Arbitrary<CheckedPack> = fc
  .record({ embeddedAs: anyText, bounds: fc.array(anyBound, { maxLength: 2 }) })
  .map((changes) => ({ ...(basePack as CheckedPack), ...changes }));

const anyFile: fc.Arbitrary<FileReport> = fc.tuple(anyName, anyText).chain(([file, text]) => {
  const lines = new LineIndex(text);
  return fc.record({
    file: fc.constant(file),
    lines: fc.constant(lines),
    diagnostics: fc.array(anyDiagnostic(file, lines), { maxLength: 4 }),
    packs: fc.array(anyPack, { maxLength: 2 }),
  });
});

/** Files have different names, as those of a real check do. */
export const anyReport: fc.Arbitrary<CheckReport> = fc
  .uniqueArray(anyFile, { maxLength: 3, selector: ({ file }) => file })
  .map((files) => reportOf(files));
