// PP213: a provider that is not declared, or declared twice.

import type { Path } from "../../../base/json.ts";
import { replaceScalar } from "../../fix/edits.ts";
import { type CheckContext, onValue, type Report, type Rule } from "../rule.ts";
import { listed } from "../wording.ts";
import { asked, isMisspelt, KnownNames } from "./known-names.ts";
import { placedSteps } from "./step-places.ts";

export const unknownProvider: Rule = {
  code: "PP213",
  severity: "error",
  fix: "unsafe",
  title: "provider is not declared",
  explain:
    "`provider` of a prompt or a step names a key of `requires.providers`; `default` is always there. " +
    "Without the declaration nobody can bind a model to the key, and a key that is declared twice is " +
    "ambiguous. Declare it once, or use a declared one.",
  bad: `
prompts:
  sort: { id: sort, name: Sort, version: 1.0.0, provider: fats, system_template: Sort the letter. }
requires:
  providers: [fast, judge]
`,
  good: `
prompts:
  sort: { id: sort, name: Sort, version: 1.0.0, provider: fast, system_template: Sort the letter. }
requires:
  providers: [fast]
`,
  check: (context, report) => {
    reportRepeated(context, report);
    const declared = declaredKeys(context);
    if (declared === undefined) return;
    const known = new KnownNames(["default", ...declared]);
    for (const { provider, path } of references(context)) {
      if (known.has(provider)) continue;
      const meant = known.guess(provider);
      const { root, text } = context;
      report({
        at: onValue(...path),
        message: `provider \`${provider}\` is not declared`,
        why:
          declared.length === 0
            ? "the pack has no requires.providers"
            : `requires.providers lists ${listed(declared)}`,
        help: declared.length === 0 ? "declare it, or use `default`" : "declare it, or use one of these",
        ...(meant !== undefined && {
          label: asked(meant),
          fix: { title: `use \`${meant}\``, edits: replaceScalar(root, text, path, meant) },
        }),
        data: { provider, declared, suggestion: meant ?? null },
      });
    }
  },
};

/** `undefined` when part of the list was refused: the key may stand there. */
function declaredKeys(context: CheckContext): readonly string[] | undefined {
  const path = ["requires", "providers"];
  const { pack } = context;
  if (context.isBroken(...path) || isMisspelt(context, path)) return undefined;
  const providers = pack.requires?.providers ?? [];
  if (context.exists(...path, providers.length)) return undefined;
  return [...new Set(providers.map((one) => (typeof one === "string" ? one : one.key)))];
}

function reportRepeated({ pack }: CheckContext, report: Report): void {
  const first = new Map<string, Path>();
  for (const [index, provider] of (pack.requires?.providers ?? []).entries()) {
    const item: Path = ["requires", "providers", index];
    const [key, path] = typeof provider === "string" ? [provider, item] : [provider.key, [...item, "key"]];
    const before = first.get(key);
    if (before === undefined) {
      first.set(key, path);
      continue;
    }
    report({
      at: onValue(...path),
      message: `provider \`${key}\` is declared twice`,
      why: "a prompt could not say which one it means",
      help: "delete or rename one",
      related: [{ at: onValue(...before), message: "it is declared here first" }],
      data: { provider: key },
    });
  }
}

function* references({ pack, isBroken }: CheckContext): Generator<{ provider: string; path: Path }> {
  for (const [name, { provider }] of Object.entries(pack.prompts)) {
    const path = ["prompts", name, "provider"];
    if (provider !== undefined && !isBroken(...path)) yield { provider, path };
  }
  for (const { step, path } of placedSteps(pack)) {
    if (step.kind !== "prompt" && step.kind !== "agent") continue;
    if (step.provider !== undefined) yield { provider: step.provider, path: [...path, "provider"] };
  }
}
