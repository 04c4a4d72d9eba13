// The catalogue of rules as SARIF describes the rules of a tool.

import type { Rule } from "../../pack/check/rule.ts";
import { rules } from "../../pack/check/rules.ts";
import type { Severity } from "../../pack/diagnostic.ts";
import { sentence } from "./wording.ts";

export const levels: Readonly<Record<Severity, string>> = {
  error: "error",
  warning: "warning",
  info: "note",
};

export const ruleDescriptors = rules.map(descriptor);

const indexByCode: ReadonlyMap<string, number> = new Map(rules.map((rule, index) => [rule.code, index]));

export function ruleIndex(code: string): number | undefined {
  return indexByCode.get(code);
}

function descriptor(rule: Rule) {
  const { code, title, explain, severity, convention } = rule;
  return {
    id: code,
    name: pascalCase(title),
    shortDescription: { text: sentence(title) },
    fullDescription: { text: explain },
    help: { text: helpText(rule), markdown: helpMarkdown(rule) },
    defaultConfiguration: { level: levels[severity], ...(convention === true && { enabled: false }) },
  };
}

/** `event target is not a state` is `EventTargetIsNotState`: one-letter words make no good identifier. */
function pascalCase(title: string): string {
  const words = title.match(/[A-Za-z0-9]+/g) ?? [];
  const kept = words.filter((word) => !/^(?:a|an|the)$/i.test(word));
  return kept.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()).join("");
}

function helpText({ explain, bad, good }: Rule): string {
  return `${explain}\n\nReported:\n\n${bad.trim()}\n\nNot reported:\n\n${good.trim()}\n`;
}

function helpMarkdown({ explain, bad, good }: Rule): string {
  return `${explain}\n\nReported:\n\n${block(bad)}\n\nNot reported:\n\n${block(good)}\n`;
}

/** The fence is longer than any in the example. */
function block(example: string): string {
  const runs = example.match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return `${fence}yaml\n${example.trim()}\n${fence}`;
}
