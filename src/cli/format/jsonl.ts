// One finding a line, for streams; the last line is `{"summary":…}` with the counts and the bounds.

import { diagnosticJson } from "../../host/pack-view.ts";
import { boundsJson } from "./bounds-json.ts";
import type { Format } from "./check-report.ts";

import { jsonText } from "./json-text.ts";

export const jsonl: Format = (report) => {
  const { errors, warnings, infos, fixable } = report;
  const lines: unknown[] = report.files.flatMap((file) => file.diagnostics.map(diagnosticJson));
  const summary = {
    files: report.files.length,
    errors,
    warnings,
    infos,
    fixable,
    bounds: boundsJson(report),
  };
  lines.push({ summary });
  return lines.map((line) => `${jsonText(line)}\n`).join("");
};
