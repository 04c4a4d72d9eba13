// The document other programs read. Lines and columns are 1-based and columns count code points; the end is
// the position behind the last character. `start` and `end` of edits are offsets into the file's text in
// UTF-16 units, a byte order mark included.

import type { Diagnostic } from "../../pack/diagnostic.ts";
import { boundsJson } from "./bounds-json.ts";
import type { Format } from "./check-report.ts";
import { jsonText } from "./json-text.ts";

export const json: Format = (report) => {
  const { errors, warnings } = report;
  const diagnostics = report.files.flatMap((file) => file.diagnostics.map(diagnosticJson));
  const document = { files: report.files.length, errors, warnings, diagnostics, bounds: boundsJson(report) };
  return `${jsonText(document, 2)}\n`;
};

/** Written out, so that the order of the keys is part of the format and not of how a finding was made. */
export function diagnosticJson(diagnostic: Diagnostic) {
  const { code, severity, message, why, help, label, file, pointer, fix, data } = diagnostic;
  const { line, column, endLine, endColumn } = diagnostic;
  return {
    code,
    severity,
    message,
    why,
    help,
    label,
    file,
    line,
    column,
    endLine,
    endColumn,
    pointer,
    related: diagnostic.related.map((related) => ({
      message: related.message,
      file: related.file,
      line: related.line,
      column: related.column,
      pointer: related.pointer,
    })),
    fix: fix === null ? null : fixJson(fix),
    data,
  };
}

function fixJson({ applicability, title, edits }: NonNullable<Diagnostic["fix"]>) {
  return { applicability, title, edits: edits.map(({ start, end, text }) => ({ start, end, text })) };
}
