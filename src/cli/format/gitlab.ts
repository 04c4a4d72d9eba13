// The Code Quality report of GitLab. Findings are compared between branches by fingerprint.

import type { Severity } from "../../pack/diagnostic.ts";
import type { Format } from "./check-report.ts";
import { fingerprints } from "./fingerprint.ts";
import { jsonText } from "./json-text.ts";
import { statement } from "./wording.ts";

const severities: Readonly<Record<Severity, string>> = { error: "critical", warning: "major", info: "minor" };

export const gitlab: Format = (report) => {
  const diagnostics = report.files.flatMap((file) => file.diagnostics);
  const prints = fingerprints(diagnostics);
  const issues = diagnostics.map((diagnostic, index) => ({
    description: statement(diagnostic),
    check_name: diagnostic.code,
    fingerprint: prints[index],
    severity: severities[diagnostic.severity],
    // GitLab matches paths as the repository lists them, without a leading `./`.
    location: {
      path: diagnostic.file.replace(/^\.\//, ""),
      lines: { begin: diagnostic.line, end: diagnostic.endLine },
    },
  }));
  return `${jsonText(issues, 2)}\n`;
};
