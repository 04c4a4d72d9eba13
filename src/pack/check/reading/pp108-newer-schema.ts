// PP108: the file says it was written for a schema newer than the one bundled here.

import { onValue, type Rule } from "../rule.ts";

/** The version whose fields we know. */
const KNOWN = { major: 1, minor: 9 } as const;
const VERSION = /\/v?(\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?\//;

/** `…/schema/v1/…` and `…/latest/…` name no minor version and are never newer. */
export function isNewerSchema(schema: string | undefined): boolean {
  const match = VERSION.exec(schema ?? "");
  if (match === null) return false;
  const major = Number(match[1]);
  return major > KNOWN.major || (major === KNOWN.major && Number(match[2]) > KNOWN.minor);
}

export const newerSchema: Rule = {
  code: "PP108",
  severity: "info",
  title: "written for a newer schema",
  explain:
    "`$schema` names a version of the specification newer than the one packloop knows. Fields added since " +
    "are not checked, and unknown properties are only warned about. Upgrade packloop, or write the pack " +
    "for a known version.",
  bad: `
$schema: https://promptpack.org/schema/v1.11.0/promptpack.schema.json
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
`,
  good: `
$schema: https://promptpack.org/schema/v1.9.0/promptpack.schema.json
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
`,
  check: ({ pack }, report) => {
    if (!isNewerSchema(pack.$schema)) return;
    const version = (VERSION.exec(pack.$schema ?? "") as RegExpExecArray).slice(1, 3).join(".");
    report({
      at: onValue("$schema"),
      message: `written for schema ${version}, known up to ${KNOWN.major}.${KNOWN.minor}`,
      why: "new fields are not checked",
      help: "upgrade packloop",
      data: { version },
    });
  },
};
