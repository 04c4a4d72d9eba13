// The trace as text: the table of RFC 0009, one row per transition and one column per artifact, and the same
// as Markdown, CSV and JSON.

import type { Json } from "../base/json.ts";
import { cells as cellsIn, padded, shortened } from "../base/screen-text.ts";
import type { TraceRow } from "./trace.ts";

const CELL_MAX = 24;

export type TraceFormat = "table" | "md" | "csv" | "json" | "jsonl";

interface TableOptions {
  /** Artifact columns; all that were ever written when left out. */
  readonly columns?: readonly string[];
}

export function traceText(
  rows: readonly TraceRow[],
  format: TraceFormat,
  options: TableOptions = {},
): string {
  switch (format) {
    case "table":
      return traceTable(rows, options);
    case "md":
      return traceMarkdown(rows, options);
    case "csv":
      return traceCsv(rows, options);
    case "json":
      return `${JSON.stringify(rows, null, 2)}\n`;
    case "jsonl":
      return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  }
}

function traceTable(rows: readonly TraceRow[], options: TableOptions): string {
  const cells = tableCells(rows, options);
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => cellsIn(row[column] ?? ""))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => padded(cell, widths[i] ?? 0))
      .join(" │ ")
      .trimEnd();
  const [head = [], ...body] = cells;
  const rule = widths.map((width) => "─".repeat(width)).join("─┼─");
  return `${[line(head), rule, ...body.map(line)].join("\n")}\n`;
}

function traceMarkdown(rows: readonly TraceRow[], options: TableOptions): string {
  const [head = [], ...body] = tableCells(rows, options);
  const line = (row: readonly string[]) =>
    `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return `${[line(head), line(head.map(() => "---")), ...body.map(line)].join("\n")}\n`;
}

/** Full values, for spreadsheets. */
function traceCsv(rows: readonly TraceRow[], options: TableOptions): string {
  const names = columnsOf(rows, options);
  const quote = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const called = callsAgents(rows);
  const fixed = ["turn", "from", "event", "to", "visit", "cause", "redirected_from", "by", "at"];
  const head = [...fixed, ...names, ...(called ? ["children"] : [])];
  const body = rows.map((row) => [
    String(row.turn),
    row.from ?? "",
    row.event ?? "",
    row.to,
    String(row.visit),
    row.cause,
    row.redirected_from.join(" "),
    row.by ?? "",
    row.at,
    ...names.map((name) => textOf(row.artifacts[name])),
    ...(called ? [row.children.join(" ")] : []),
  ]);
  return `${[head, ...body].map((row) => row.map(quote).join(",")).join("\r\n")}\r\n`;
}

function tableCells(rows: readonly TraceRow[], options: TableOptions): readonly (readonly string[])[] {
  const names = columnsOf(rows, options);
  const called = callsAgents(rows);
  const composed = rows.some(({ steps }) => steps !== undefined);
  const repeated = new Set(rows.filter((row) => row.visit > 1).map((row) => row.to));
  const body = rows.map((row) => [
    `→ ${row.to}${repeated.has(row.to) ? ` (${row.visit})` : ""}`,
    eventCell(row),
    ...names.map((name) => shorten(textOf(row.artifacts[name]))),
    ...(composed ? [stepsCell(row)] : []),
    ...(called ? [row.children.join(" ") || "—"] : []),
  ]);
  const head = ["Transition", "Event", ...names];
  return [[...head, ...(composed ? ["Steps"] : []), ...(called ? ["Agents"] : [])], ...body];
}

/** Steps of a composition that ran, in the order in which they ended. */
function stepsCell({ steps = [] }: TraceRow): string {
  const ran = steps.filter(({ status }) => status !== "skipped");
  const names = ran.map(({ id, status }) => (status === "failed" ? `${id} (failed)` : id));
  return names.join(" ") || "—";
}

/** The last column names the runs of the agents that a visit called, where any visit did. */
const callsAgents = (rows: readonly TraceRow[]): boolean => rows.some(({ children }) => children.length > 0);

function eventCell(row: TraceRow): string {
  const by = row.by === null ? "" : ` by ${row.by}`;
  const redirect =
    row.redirected_from.length === 0 ? "" : ` (max_visits of ${row.redirected_from.join(", ")})`;
  return row.event === null ? "(entry)" : `${row.event}${by}${redirect}`;
}

function columnsOf(rows: readonly TraceRow[], { columns }: TableOptions): readonly string[] {
  return columns ?? [...new Set(rows.flatMap((row) => Object.keys(row.artifacts)))];
}

function textOf(value: Json | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** One line that fits a column; what never had a value is a dash. */
const shorten = (text: string): string =>
  text === "" ? "—" : shortened(text.replaceAll(/(?!\s)\p{Cf}/gu, "·"), CELL_MAX);
