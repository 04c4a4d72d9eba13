// For people: the line, a caret under the mistake, why it matters and what to do. Infos demand no action, so
// they come after the rest of the whole report; the certificates follow, the summary is last.

import { styleText } from "node:util";
import { cellsOf, visible } from "../../base/screen-text.ts";
import type { Diagnostic, Severity } from "../../pack/diagnostic.ts";
import { boundText } from "./bound-text.ts";
import type { CheckReport, FileReport, Format } from "./check-report.ts";

type Paint = (style: Style, text: string) => string;
type Style = "red" | "yellow" | "cyan" | "blue" | "bold" | "dim" | "green";

const painted: Paint = (style, text) => styleText(style, text, { validateStream: false });
const plain: Paint = (_style, text) => text;

const colors: Readonly<Record<Severity, Style>> = { error: "red", warning: "yellow", info: "cyan" };
/** A template may be one long line; what is shown of it fits a screen. */
const WIDTH_MAX = 160;

/** In place of a line that holds a secret. */
const HIDDEN = "(not shown)";

export const pretty: Format = (report, options) => {
  const paint = options.color ? painted : plain;
  const parts: string[] = [];
  const { files } = report;
  for (const isLast of [false, true]) {
    for (const file of files) {
      const group = file.diagnostics.filter((one) => (one.severity === "info") === isLast);
      parts.push(...group.map((diagnostic) => diagnosticText(diagnostic, file, paint)));
    }
  }
  if (options.bound) {
    parts.push(
      ...files.flatMap(({ file, packs }) => packs.map((pack) => visibleLines(boundText(file, pack)))),
    );
  }
  parts.push(`${summaryText(report, paint)}\n`);
  return parts.join("\n");
};

/** One finding with its snippet; ends with a line end. */
export function diagnosticText(
  diagnostic: Diagnostic,
  { lines }: Pick<FileReport, "lines">,
  paint: Paint = plain,
): string {
  const { severity, code, line, column } = diagnostic;
  const gutter = " ".repeat(String(line).length);
  const bar = paint("blue", "|");
  const note = (text: string) => `${gutter} ${paint("blue", "=")} ${visible(text)}`;
  const { shown, caretAt, caretLength } = snippet(lines.lineText(line), diagnostic);
  const caret = paint(colors[severity], "^".repeat(caretLength));
  const label = diagnostic.label === "" ? "" : ` ${paint(colors[severity], visible(diagnostic.label))}`;
  const out = [
    `${paint(colors[severity], `${severity} ${code}`)}${paint("bold", `: ${visible(diagnostic.message)}`)}`,
    `${gutter}${paint("blue", "-->")} ${visible(diagnostic.file)}:${line}:${column}`,
    `${gutter} ${bar}`,
    `${paint("blue", String(line))} ${bar} ${shown}`,
    `${gutter} ${bar} ${" ".repeat(caretAt)}${caret}${label}`,
    ...diagnostic.related.map((related) => note(`${related.line}:${related.column}: ${related.message}`)),
    note(diagnostic.why),
    note(`help: ${diagnostic.help}${fixMark(diagnostic)}`),
  ];
  return `${out.join("\n")}\n`;
}

function fixMark({ fix }: Diagnostic): string {
  if (fix === null) return "";
  return fix.applicability === "safe" ? " [--fix]" : " [--unsafe-fixes]";
}

/** The line cut around the mistake; the caret counts screen cells, positions count code points. */
function snippet(line: string, { column, endColumn, ...diagnostic }: Diagnostic) {
  if (diagnostic.hideSource === true) return { shown: HIDDEN, caretAt: 0, caretLength: HIDDEN.length };
  const points = [...visible(line)];
  const start = column - 1;
  const from = points.length <= WIDTH_MAX ? 0 : Math.max(0, Math.min(start - 40, points.length - WIDTH_MAX));
  const to = Math.min(points.length, from + WIDTH_MAX);
  const end = diagnostic.endLine === diagnostic.line ? Math.min(endColumn - 1, to) : to;
  const head = from > 0 ? "…" : "";
  const shown = `${head}${points.slice(from, to).join("")}${to < points.length ? "…" : ""}`.trimEnd();
  // A position at the line end stands behind the last character.
  const beyond = Math.max(0, start - points.length);
  const caretAt = head.length + cellsOf(points.slice(from, start)) + beyond;
  return { shown, caretAt, caretLength: Math.max(1, cellsOf(points.slice(start, end))) };
}

function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

function summaryText(report: CheckReport, paint: Paint): string {
  const files = plural(report.files.length, "file");
  if (report.errors + report.warnings + report.infos === 0)
    return `${paint("green", "ok")}: ${files}, nothing to report`;
  const parts = [
    report.errors > 0 ? paint("red", plural(report.errors, "error")) : "",
    report.warnings > 0 ? paint("yellow", plural(report.warnings, "warning")) : "",
    report.infos > 0 ? paint("cyan", plural(report.infos, "info")) : "",
  ];
  const fixable = report.fixable > 0 ? ` (${report.fixable} fixable)` : "";
  return `${parts.filter((part) => part !== "").join(", ")} in ${files}${fixable}`;
}

function plural(count: number, noun: string): string {
  if (noun === "info") return `${count} info`;
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
