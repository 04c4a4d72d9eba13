// PP813: a term uses a prefix that no vocabulary declares.

import type { Path } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import type { Governance } from "../../shape/generated/pack-file.ts";
import { type CheckContext, onValue, type Rule } from "../rule.ts";
import { governanceObjects } from "./governance-list.ts";

export const undeclaredPrefix: Rule = {
  code: "PP813",
  severity: "warning",
  title: "prefix of a term is not declared",
  explain:
    "A term such as `dpv:Contact` is short for an address: the prefix stands for a vocabulary. A prefix " +
    "that is neither declared under `vocabularies` nor one of the well-known ones says nothing to a " +
    "reader. Declare it, or correct it; plain words need no prefix.",
  bad: `
metadata:
  governance: { risk_classification: "acme:Low" }
`,
  good: `
metadata:
  governance: { risk_classification: "acme:Low", vocabularies: { acme: "https://acme.example/vocab#" } }
`,
  check: (context, report) => {
    const declared = declaredPrefixes(context);
    const said = new Set<string>();
    for (const { text, path } of termsOf(context)) {
      const prefix = /^([A-Za-z][A-Za-z0-9._-]*):(?!\/\/)\S+$/.exec(text)?.[1];
      if (prefix === undefined || declared.has(prefix) || said.has(prefix) || SCHEMES.has(prefix)) continue;
      said.add(prefix);
      const meant = suggest(prefix, declared);
      report({
        at: onValue(...path),
        message: `prefix \`${prefix}\` is not declared`,
        why: "its meaning is open",
        help: "declare it under vocabularies, or correct it",
        ...(meant !== undefined && { label: `did you mean \`${meant}\`?` }),
        data: { prefix, term: text, suggestion: meant ?? null },
      });
    }
  },
};

/** Vocabularies every reader knows. */
const WELL_KNOWN = [
  "dpv",
  "eu-aiact",
  "ai",
  "pd",
  "risk",
  "tech",
  "legal-eu-gdpr",
  "legal-us",
  "sector-health",
  "sector-finance",
  "sector-education",
  "sector-law",
  "sector-publicservices",
  "sector-infra",
  "hipaa",
  "pp",
];

/** Beginnings of absolute addresses that have no slashes. */
const SCHEMES = new Set([
  "urn",
  "mailto",
  "tel",
  "did",
  "doi",
  "tag",
  "info",
  "data",
  "uuid",
  "http",
  "https",
]);

function declaredPrefixes(context: CheckContext): ReadonlySet<string> {
  const declared = governanceObjects(context).flatMap(({ written }) =>
    Object.keys(written.vocabularies ?? {}),
  );
  return new Set([...WELL_KNOWN, ...declared]);
}

interface Term {
  readonly text: string;
  readonly path: Path;
}

function termsOf(context: CheckContext): readonly Term[] {
  const terms = governanceObjects(context).flatMap(({ written, path }) => governanceTerms(written, path));
  for (const [key, tool] of Object.entries(context.pack.tools ?? {})) {
    terms.push(...listed(tool.action_scope?.data_classes, ["tools", key, "action_scope", "data_classes"]));
  }
  return terms;
}

/** Owners are people and teams, not terms. */
function governanceTerms(governance: Governance, path: Path): Term[] {
  const terms: Term[] = [];
  const add = (text: string | undefined, at: Path): void => {
    if (text !== undefined) terms.push({ text, path: at });
  };
  for (const key of ["intended_purpose", "operator_role", "risk_classification"] as const) {
    add(governance[key], [...path, key]);
  }
  for (const key of ["foreseeable_misuse", "intended_deployment_contexts", "capabilities"] as const) {
    terms.push(...listed(governance[key], [...path, key]));
  }
  for (const [index, { obligation, applies_to: trigger }] of (governance.obligations ?? []).entries()) {
    const at = [...path, "obligations", index];
    add(obligation, [...at, "obligation"]);
    for (const key of ["capability", "data_class", "risk_classification"] as const) {
      add(trigger?.[key], [...at, "applies_to", key]);
    }
  }
  for (const [index, { type }] of (governance.reviews ?? []).entries())
    add(type, [...path, "reviews", index, "type"]);
  return terms;
}

function listed(texts: readonly string[] | undefined, path: Path): Term[] {
  return (texts ?? []).map((text, index) => ({ text, path: [...path, index] }));
}
