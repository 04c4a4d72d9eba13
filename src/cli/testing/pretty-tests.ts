// Test results for people: a line per test, and under one that failed what was expected, what was, and the
// way the run took around it.

import type { TraceRow } from "../../core/trace.ts";
import { type Piece, type Style, terminalLine } from "../format/terminal-line.ts";
import type { Difference } from "./difference.ts";
import type { TestFormat, TestReport, TestResult, Totals } from "./test-result.ts";
import { titleOf } from "./test-result.ts";

/** Longer values are cut; `--format json` has them whole. */
const WIDTH = 400;

export const prettyTests: TestFormat = (report: TestReport, { color }) => {
  const lines = report.results.flatMap(linesOf).concat([[], totalsLine(report.totals)]);
  return `${lines.map((pieces) => terminalLine(pieces, { width: WIDTH, color })).join("\n")}\n`;
};

type Line = readonly Piece[];

const MARKS: Readonly<Record<TestResult["status"], { readonly mark: string; readonly style: Style }>> = {
  passed: { mark: "✓", style: "green" },
  failed: { mark: "✗", style: "red" },
  skipped: { mark: "-", style: "yellow" },
};

function linesOf(result: TestResult): readonly Line[] {
  const { mark, style } = MARKS[result.status];
  const behind = result.status === "skipped" ? `skipped: ${result.test.skip ?? ""}` : `${result.ms} ms`;
  const head: Line = [
    { text: `${mark} `, style },
    { text: titleOf(result) },
    { text: `  ${behind}`, style: "dim" },
  ];
  if (result.status !== "failed") return [head];
  return [
    head,
    ...result.differences.flatMap(differenceLines),
    ...wayLines(result),
    ...errorLines(result),
    ...takenLines(result),
    ...result.remarks.map((remark): Line => [{ text: `    note: ${remark}`, style: "dim" }]),
  ];
}

function differenceLines({ place, kind, what, ...sides }: Difference): readonly Line[] {
  const [expected, actual] = [sides.expected, sides.actual].map((text) => text.replaceAll("\n", "⏎")) as [
    string,
    string,
  ];
  if (kind === "unsupported")
    return [
      [{ text: `    ${what} cannot be judged: ${actual}` }],
      [{ text: `      at ${place}`, style: "dim" }],
    ];
  return [
    [{ text: `    ${what}` }],
    [
      { text: "      expected ", style: "dim" },
      { text: expected, style: "green" },
    ],
    [
      { text: "      was      ", style: "dim" },
      { text: actual, style: "red" },
    ],
    [{ text: `      at ${place}`, style: "dim" }],
  ];
}

/** Rows of the trace before and after the first one that differs. */
const AROUND = 2;

function wayLines({ differences, trace }: TestResult): readonly Line[] {
  if (trace.length === 0) return [];
  const row = differences.find((one) => one.row !== undefined)?.row;
  const focus = row ?? trace.length - 1;
  const from = Math.max(0, Math.min(focus, trace.length - 1) - AROUND);
  const shown = trace.slice(from, focus + AROUND + 1);
  return [
    [{ text: "    the way it took", style: "dim" }],
    ...shown.map((one, index): Line => {
      const isThere = from + index === row;
      const text = `      ${isThere ? ">" : " "} ${from + index + 1} ${rowText(one)}`;
      return [isThere ? { text, style: "bold" } : { text }];
    }),
  ];
}

function rowText({ from, event, to, visit, by, redirected_from }: TraceRow): string {
  const cause = from === null ? "entry" : `${event ?? ""} from ${from}`;
  const who = by === null ? "" : ` by ${by}`;
  const full = redirected_from.length === 0 ? "" : `, max_visits of ${redirected_from.join(", ")}`;
  return `→ ${to} (${visit})  ${cause}${who}${full}`;
}

/** The last calls that failed: often what a difference comes from. */
const ERRORS_MAX = 3;

function errorLines({ errors }: TestResult): readonly Line[] {
  if (errors.length === 0) return [];
  return [
    [{ text: "    calls that failed", style: "dim" }],
    ...errors
      .slice(-ERRORS_MAX)
      .map(({ tool, error }): Line => [{ text: `        ${tool}: ${error ?? ""}` }]),
  ];
}

/** The last model calls, because it is there that a mock file and the run part. */
const TAKEN_MAX = 5;

function takenLines({ taken }: TestResult): readonly Line[] {
  if (taken.length === 0) return [];
  return [
    [{ text: "    entries of the mock file", style: "dim" }],
    ...taken.slice(-TAKEN_MAX).map(({ call, state, entry }): Line => {
      const where = state === "" ? "" : ` in ${state}`;
      return [{ text: `        model call ${call}${where}: ${entry ?? "there was none"}` }];
    }),
  ];
}

function totalsLine({ passed, failed, skipped, ms }: Totals): Line {
  const left = skipped === 0 ? "" : `, ${skipped} skipped`;
  const style: Style = failed > 0 ? "red" : "green";
  return [
    { text: `${passed} passed, ${failed} failed${left}`, style },
    { text: `  ${(ms / 1000).toFixed(1)} s`, style: "dim" },
  ];
}
