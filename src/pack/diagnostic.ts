// What the checker says. A finding points by offset into the source; `locate` turns it into the public
// diagnostic with lines and columns (interfaces: `packloop check --format json`).

import type { Json, Path } from "../base/json.ts";
import { toPointer } from "../base/json.ts";
import type { LineIndex } from "./read/line-index.ts";
import type { Span } from "./read/tree.ts";

export type Severity = "error" | "warning" | "info";

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Fix {
  readonly applicability: "safe" | "unsafe";
  readonly title: string;
  readonly edits: readonly Edit[];
}

export interface Finding {
  readonly code: string;
  readonly severity: Severity;
  /** What is wrong: a lower-case clause with the offending value in backquotes. */
  readonly message: string;
  readonly why: string;
  /** What to do. */
  readonly help: string;
  /** Shown beside the caret in the terminal, such as a suggestion. */
  readonly label: string;
  readonly span: Span;
  readonly path: Path;
  readonly related: readonly RelatedFinding[];
  readonly fix: Fix | null;
  readonly data: Readonly<Record<string, Json>>;
  /** The source holds a secret here: no output may quote these lines. */
  readonly hideSource?: true;
}

export interface RelatedFinding {
  readonly message: string;
  readonly span: Span;
  readonly path: Path;
}

export interface Diagnostic {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly why: string;
  readonly help: string;
  readonly label: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly pointer: string;
  readonly related: readonly RelatedDiagnostic[];
  readonly fix: Fix | null;
  readonly data: Readonly<Record<string, Json>>;
  /** The source holds a secret here: no output may quote these lines. */
  readonly hideSource?: true;
}

export interface RelatedDiagnostic {
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly pointer: string;
}

export function locate(finding: Finding, file: string, lines: LineIndex): Diagnostic {
  const start = lines.position(finding.span.start);
  const end = lines.position(Math.max(finding.span.start, finding.span.end));
  return {
    code: finding.code,
    severity: finding.severity,
    message: finding.message,
    why: finding.why,
    help: finding.help,
    label: finding.label,
    file,
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
    pointer: toPointer(finding.path),
    related: finding.related.map((related) => {
      const at = lines.position(related.span.start);
      const pointer = toPointer(related.path);
      return { message: related.message, file, line: at.line, column: at.column, pointer };
    }),
    fix: finding.fix,
    data: finding.data,
    ...(finding.hideSource === true && { hideSource: true }),
  };
}

/** By position, then code: the order in which an author reads the file. */
export function byPosition(a: Finding, b: Finding): number {
  return (
    a.span.start - b.span.start ||
    compareText(a.code, b.code) ||
    a.span.end - b.span.end ||
    compareText(a.message, b.message)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
