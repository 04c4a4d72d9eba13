// PP506: an artifact type or an agent's mode is not a MIME type.

import type { Path } from "../../../base/json.ts";
import { type CheckContext, onValue, type Report, type Rule } from "../rule.ts";
import { artifactFlow } from "./artifact-flow.ts";
import { isMimeRange, isMimeType, mimeTypeFor } from "./mime-type.ts";
import { isWholeList } from "./variable-list.ts";

export const mimeType: Rule = {
  code: "PP506",
  severity: "warning",
  title: "not a MIME type",
  explain:
    "The type of an artifact and the modes of an agent are MIME types, written `type/subtype` with " +
    "optional parameters. The type decides whether a value is parsed as JSON and how it is shown and " +
    "appended to; other agents choose by the modes. Modes may also name a whole class, such as `image/*`.",
  bad: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, terminal: true, artifacts: { report: { type: json } } }
`,
  good: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, terminal: true, artifacts: { report: { type: application/json } } }
`,
  check: (context, report) => {
    for (const declarations of artifactFlow(context).declarations.values()) {
      for (const { artifact, path } of declarations) {
        if (!isMimeType(artifact.type)) complain(report, artifact.type, [...path, "type"]);
      }
    }
    checkModes(context, report);
  },
};

function checkModes(context: CheckContext, report: Report): void {
  for (const [name, member] of Object.entries(context.pack.agents?.members ?? {})) {
    for (const key of ["input_modes", "output_modes"] as const) {
      const path = ["agents", "members", name, key];
      const modes = member[key] ?? [];
      if (!isWholeList(context, path, modes)) continue;
      for (const [index, mode] of modes.entries()) {
        if (!isMimeRange(mode)) complain(report, mode, [...path, index]);
      }
    }
  }
}

function complain(report: Report, type: string, path: Path): void {
  const meant = mimeTypeFor(type);
  report({
    at: onValue(...path),
    message: `\`${type}\` is not a MIME type`,
    why: path[0] === "agents" ? "callers choose an agent by its types" : "viewers and append need one",
    help: `write ${meant === undefined ? "`type/subtype`, such as `text/plain`" : `\`${meant}\``}`,
    data: { type, suggestion: meant ?? null },
  });
}
