// Which findings are shown: `--select`, `--ignore`, severities and ignores of packloop.yaml.

import { toPointer } from "../base/json.ts";
import { ruleByCode, rules } from "./check/rules.ts";
import type { Finding, Severity } from "./diagnostic.ts";

export interface Selection {
  /** Codes or prefixes. With any, only these are shown; conventions are shown only when one names them. */
  readonly select: readonly string[];
  readonly ignore: readonly string[];
  /** Code or prefix to the severity it gets; `off` hides it. */
  readonly severities: Readonly<Record<string, Severity | "off">>;
  /** By code and, when given, place; for files that cannot hold comments. */
  readonly ignores: readonly { readonly code: string; readonly pointer?: string }[];
}

export const everything: Selection = { select: [], ignore: [], severities: {}, ignores: [] };

/** A code is known when some rule has it or begins with it. */
export function isKnownCode(codeOrPrefix: string): boolean {
  return /^PP\d{0,3}$/.test(codeOrPrefix) && rules.some((rule) => rule.code.startsWith(codeOrPrefix));
}

/** Errors are never hidden and never become less: they say that the pack cannot run. */
export function selectFindings(findings: readonly Finding[], selection: Selection): readonly Finding[] {
  const shown: Finding[] = [];
  for (const finding of findings) {
    const severity = severityOf(finding, selection);
    if (severity === "off") continue;
    shown.push(severity === finding.severity ? finding : { ...finding, severity });
  }
  return shown;
}

export function isSelected(code: string, selection: Selection): boolean {
  const named = selection.select.some((prefix) => code.startsWith(prefix));
  if (selection.ignore.some((prefix) => code.startsWith(prefix))) return false;
  if (ruleByCode(code)?.convention === true) return named || setSeverity(code, selection) !== undefined;
  return named || selection.select.length === 0;
}

function severityOf(finding: Finding, selection: Selection): Severity | "off" {
  const wanted = setSeverity(finding.code, selection) ?? finding.severity;
  if (finding.severity === "error") return "error";
  if (!isSelected(finding.code, selection) || isIgnored(finding, selection)) return "off";
  return wanted;
}

function setSeverity(code: string, { severities }: Selection): Severity | "off" | undefined {
  let best: string | undefined;
  for (const prefix of Object.keys(severities)) {
    if (code.startsWith(prefix) && prefix.length > (best?.length ?? 0)) best = prefix;
  }
  return best === undefined ? undefined : severities[best];
}

function isIgnored(finding: Finding, { ignores }: Selection): boolean {
  return ignores.some(
    ({ code, pointer }) =>
      code === finding.code && (pointer === undefined || pointer === toPointer(finding.path)),
  );
}
