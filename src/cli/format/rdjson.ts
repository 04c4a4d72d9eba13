// The Reviewdog Diagnostic Format. Its columns count UTF-8 bytes. Only fields that every reader knows are
// written, because readers refuse a document with an unknown one: no related locations.

import type { Diagnostic, Edit, Severity } from "../../pack/diagnostic.ts";
import type { LineIndex, Position } from "../../pack/read/line-index.ts";
import type { FileReport, Format } from "./check-report.ts";
import { jsonText } from "./json-text.ts";
import { sentences } from "./wording.ts";

const severities: Readonly<Record<Severity, string>> = { error: "ERROR", warning: "WARNING", info: "INFO" };

export const rdjson: Format = (report) => {
  const diagnostics = report.files.flatMap((file) => file.diagnostics.map((one) => entry(one, file)));
  return `${jsonText({ source: { name: "packloop" }, diagnostics }, 2)}\n`;
};

function entry(diagnostic: Diagnostic, { lines }: FileReport) {
  const { file, line, column, endLine, endColumn, severity, code, fix } = diagnostic;
  const range = {
    start: inBytes({ line, column }, lines),
    end: inBytes({ line: endLine, column: endColumn }, lines),
  };
  return {
    message: sentences(diagnostic),
    location: { path: file, range },
    severity: severities[severity],
    code: { value: code },
    ...(fix !== null && { suggestions: fix.edits.map((edit) => suggestion(edit, lines)) }),
  };
}

function suggestion({ start, end, text }: Edit, lines: LineIndex) {
  const range = { start: inBytes(lines.position(start), lines), end: inBytes(lines.position(end), lines) };
  return { range, text };
}

function inBytes({ line, column }: Position, lines: LineIndex): Position {
  const text = lines.lineText(line);
  let at = 0;
  let bytes = 0;
  for (let passed = 1; passed < column; passed++) {
    // Behind the text of the line stands at most its line end, of one-byte characters.
    const point = text.codePointAt(at) ?? 0;
    at += point > 0xffff ? 2 : 1;
    bytes += point > 0xffff ? 4 : point > 0x7ff ? 3 : point > 0x7f ? 2 : 1;
  }
  return { line, column: bytes + 1 };
}
