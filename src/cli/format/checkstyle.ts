// Checkstyle's XML, which most review tools read.

import type { Diagnostic } from "../../pack/diagnostic.ts";
import type { FileReport, Format } from "./check-report.ts";
import { statement } from "./wording.ts";
import { XML_HEADER, xmlAttributes } from "./xml-text.ts";

/** The version of the format that readers expect, not ours. */
const FORMAT_VERSION = "4.3";

export const checkstyle: Format = (report) => {
  const files = report.files.map(fileElement).join("");
  return `${XML_HEADER}\n<checkstyle${xmlAttributes({ version: FORMAT_VERSION })}>\n${files}</checkstyle>\n`;
};

function fileElement({ file, diagnostics }: FileReport): string {
  return `  <file${xmlAttributes({ name: file })}>\n${diagnostics.map(errorElement).join("")}  </file>\n`;
}

function errorElement(diagnostic: Diagnostic): string {
  const { line, column, severity, code } = diagnostic;
  const message = statement(diagnostic);
  return `    <error${xmlAttributes({ line, column, severity, message, source: `packloop.${code}` })}/>\n`;
}
