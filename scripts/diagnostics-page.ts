// The text of docs/diagnostics.md, made from the catalogue; a test compares it with the file, so every
// example on the page is executed.

import { diagnosticText } from "../src/cli/format/pretty.ts";
import type { Rule } from "../src/pack/check/rule.ts";
import { rules } from "../src/pack/check/rules.ts";
import { checkText } from "../src/pack/check-text.ts";
import { locate } from "../src/pack/diagnostic.ts";
import { LineIndex } from "../src/pack/read/line-index.ts";
import { completed, readCaseConfig } from "../test/rules/rule-cases.ts";

const families: Readonly<Record<string, string>> = {
  PP1: "Reading and shape",
  PP2: "References",
  PP3: "Graph",
  PP4: "Loops and budgets",
  PP5: "Artifacts and templates",
  PP6: "Events and prompts",
  PP7: "Security",
  PP8: "Compositions, providers, governance",
  PP9: "Suppressions",
};

export function diagnosticsPage(): string {
  const out = [
    "# Diagnostics",
    "",
    "Made by `npm run generate` from the rules themselves; every example below is run by the tests.",
    "`packloop explain CODE` prints one entry. Severities: an error stops a run and cannot be suppressed; a warning",
    "runs and is probably not meant; an info is worth knowing; a convention is off unless selected.",
    "In the examples, top-level keys that do not matter (`id`, `name`, `version`, `template_engine`) are left out.",
    "",
  ];
  for (const [prefix, title] of Object.entries(families)) {
    const family = rules.filter((rule) => rule.code.startsWith(prefix));
    out.push(`## ${prefix}xx ${title}`, "", "| code | severity | fix | title |", "| --- | --- | --- | --- |");
    for (const rule of family)
      out.push(
        `| [${rule.code}](#${rule.code.toLowerCase()}) | ${level(rule)} | ${rule.fix ?? "–"} | ${cell(rule.title)} |`,
      );
    out.push("");
    for (const rule of family) out.push(...entry(rule));
  }
  return `${out.join("\n").trimEnd()}\n`;
}

const level = (rule: Rule): string =>
  (rule.convention === true ? "convention" : rule.severity) + (rule.stricter === true ? " †" : "");
const cell = (text: string): string => text.replaceAll("|", "\\|");

function entry(rule: Rule): string[] {
  const fence = "```";
  return [
    `### ${rule.code}`,
    "",
    `**${rule.title}** (${level(rule)})`,
    "",
    rule.explain,
    "",
    `${fence}yaml`,
    rule.bad.trim(),
    fence,
    "",
    fence,
    reported(rule),
    fence,
    "",
    "Mended:",
    "",
    `${fence}yaml`,
    rule.good.trim(),
    fence,
    "",
  ];
}

function reported(rule: Rule): string {
  const text = completed(rule.bad.trimStart());
  const lines = new LineIndex(text);
  const { findings } = checkText(text, { file: "pack.yaml", ...readCaseConfig(rule.badConfig ?? "") });
  return findings
    .filter((finding) => finding.code === rule.code)
    .map((finding) => diagnosticText(locate(finding, "pack.yaml", lines), { lines }))
    .join("\n")
    .trimEnd();
}
