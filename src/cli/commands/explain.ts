// `packloop explain CODE`: what a finding means, shown on a bad and a good pack.

import { Command } from "commander";
import { suggest } from "../../base/suggest.ts";
import type { Rule } from "../../pack/check/rule.ts";
import { ruleByCode, rules } from "../../pack/check/rules.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { write } from "../output.ts";

export function explainCommand(): Command {
  return new Command()
    .description("Explain a code: what it means, a pack that has the finding, the same pack mended.")
    .argument("[code]", "such as PP403")
    .option("--list", "list every code")
    .option("--json", "print as JSON")
    .addHelpText("after", "\nExamples:\n  packloop explain PP403\n  packloop explain --list --json")
    .action((code: string | undefined, options: { list?: true; json?: true }) => {
      if (options.list === true) return write(listText(options.json === true));
      if (code === undefined) throw usageError("give a code, or --list");
      const rule = ruleByCode(code.toUpperCase());
      if (rule === undefined) throw unknownCode(code);
      return write(options.json === true ? `${JSON.stringify(ruleData(rule), null, 2)}\n` : ruleText(rule));
    });
}

function unknownCode(code: string): ExitError {
  const meant = suggest(
    code.toUpperCase(),
    rules.map((rule) => rule.code),
  );
  const hint = meant === undefined ? "see packloop explain --list" : `did you mean \`${meant}\`?`;
  return new ExitError(`\`${code}\` is not a code (${hint})`, exits.usage);
}

function listText(json: boolean): string {
  if (json) return `${JSON.stringify(rules.map(ruleData), null, 2)}\n`;
  return rules.map((rule) => `${rule.code}  ${levelOf(rule).padEnd(10)}  ${rule.title}\n`).join("");
}

const levelOf = (rule: Rule): string => (rule.convention === true ? "convention" : rule.severity);

function ruleData(rule: Rule) {
  return {
    code: rule.code,
    severity: rule.severity,
    convention: rule.convention === true,
    stricter: rule.stricter === true,
    fix: rule.fix ?? null,
    title: rule.title,
    explain: rule.explain,
    bad: rule.bad.trimStart(),
    good: rule.good.trimStart(),
  };
}

function ruleText(rule: Rule): string {
  const facts: string[] = [levelOf(rule)];
  if (rule.convention === true) facts.push("off unless selected");
  if (rule.stricter === true) facts.push("one step stricter with --strict");
  if (rule.fix !== undefined)
    facts.push(rule.fix === "safe" ? "mended by --fix" : "mended by --unsafe-fixes");
  const indent = (text: string) => text.trim().replace(/^(?=.)/gm, "    ");
  return [
    `${rule.code}: ${rule.title}`,
    `(${facts.join("; ")})`,
    "",
    wrap(rule.explain, 100),
    "",
    "Reported:",
    "",
    indent(rule.bad),
    "",
    "Not reported:",
    "",
    indent(rule.good),
    "",
  ].join("\n");
}

function wrap(text: string, width: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join("\n");
}
