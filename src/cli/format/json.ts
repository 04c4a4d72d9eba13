// The document other programs read. Lines and columns are 1-based and columns count code points; the end is
// the position behind the last character. `start` and `end` of edits are offsets into the file's text in
// UTF-16 units, a byte order mark included.

import { diagnosticJson } from "../../host/pack-view.ts";
import { boundsJson } from "./bounds-json.ts";
import type { Format } from "./check-report.ts";
import { jsonText } from "./json-text.ts";

export const json: Format = (report) => {
  const { errors, warnings } = report;
  const diagnostics = report.files.flatMap((file) => file.diagnostics.map(diagnosticJson));
  const document = { files: report.files.length, errors, warnings, diagnostics, bounds: boundsJson(report) };
  return `${jsonText(document, 2)}\n`;
};
