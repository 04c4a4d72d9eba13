// Workflow commands that GitHub Actions turns into annotations.

import type { Diagnostic, Severity } from "../../pack/diagnostic.ts";
import type { Format } from "./check-report.ts";
import { statement } from "./wording.ts";

export const github: Format = (report) =>
  report.files.flatMap((file) => file.diagnostics.map(command)).join("");

const commands: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "notice" };

function command(diagnostic: Diagnostic): string {
  const { severity, file, line, endLine, column, endColumn, code } = diagnostic;
  const properties = [`file=${escapeProperty(file)}`, `line=${line}`, `endLine=${endLine}`];
  // GitHub refuses columns when the lines differ.
  if (line === endLine) properties.push(`col=${column}`, `endColumn=${endColumn}`);
  properties.push(`title=${escapeProperty(code)}`);
  return `::${commands[severity]} ${properties.join(",")}::${escapeMessage(statement(diagnostic))}\n`;
}

function escapeMessage(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
