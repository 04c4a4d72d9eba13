// One line for each finding, as compilers print them and editors jump by.

import { visible } from "../../base/screen-text.ts";
import type { Diagnostic } from "../../pack/diagnostic.ts";
import type { Format } from "./check-report.ts";

export const concise: Format = (report) =>
  report.files.flatMap((file) => file.diagnostics.map(line)).join("");

function line({ file, line, column, severity, code, message, fix }: Diagnostic): string {
  const mark = fix === null ? "" : fix.applicability === "safe" ? " [fix]" : " [unsafe fix]";
  return `${visible(`${file}:${line}:${column}: ${severity} ${code}: ${message}`)}${mark}\n`;
}
