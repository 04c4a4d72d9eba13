// PP606: a tool, fragment or provider requirement that nobody uses.

import type { Path } from "../../../base/json.ts";
import { fragmentNamed } from "../../../core/part-site.ts";
import { defaultDelimiters, delimitersOf, type Piece, parseTemplate } from "../../../core/template.ts";
import { removeAt } from "../../fix/edits.ts";
import { includedFragment, promptTexts } from "../artifacts/prompt-texts.ts";
import { isWholeList } from "../artifacts/variable-list.ts";
import { KnownNames } from "../references/known-names.ts";
import { packPaths } from "../references/pack-paths.ts";
import { type CheckContext, onKey, onValue, type Place, type Report, type Rule } from "../rule.ts";
import { namedThings } from "./named-things.ts";

export const unusedPart: Rule = {
  code: "PP606",
  severity: "info",
  fix: "unsafe",
  title: "tool, fragment or provider is unused",
  explain:
    "A tool is offered to a model only by a prompt or step that lists it, a fragment appears only where a " +
    "template includes it, and a provider requirement matters only to prompts and steps that name it. " +
    "What nobody uses still has to be read, bound or configured by someone. Use it, or remove it.",
  bad: `
tools:
  get_weather: { name: get_weather, description: Weather of a place }
`,
  good: `
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Say what to wear., tools: [get_weather] }
tools:
  get_weather: { name: get_weather, description: Weather of a place, action_scope: { effect: read } }
`,
  check: (context, report) => {
    reportTools(context, report);
    reportFragments(context, report);
    reportProviders(context, report);
  },
};

interface Part {
  readonly noun: string;
  readonly name: string;
  readonly path: Path;
  readonly at: Place;
  readonly why: string;
  readonly help: string;
}

function reportPart({ root, text }: CheckContext, report: Report, part: Part): void {
  const { noun, name, path, at, why, help } = part;
  report({
    at,
    message: `${noun} \`${name}\` is unused`,
    why,
    help,
    fix: { title: `remove \`${name}\``, edits: removeAt(root, text, path) },
    data: { [noun]: name },
  });
}

function reportTools(context: CheckContext, report: Report): void {
  const { pack, exists } = context;
  const used = namedThings(context).tools;
  const keys = Object.keys(pack.tools ?? {});
  if (keys.length === 0) return;
  const known = new KnownNames(keys);
  const meant = new Set([...used].filter((name) => !exists("tools", name)).map((name) => known.guess(name)));
  const prefixes = [...used].filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  for (const name of keys) {
    if (used.has(name) || meant.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) continue;
    const path = ["tools", name];
    const why = pack.compositions === undefined ? "no prompt lists it" : "no prompt or step lists it";
    reportPart(context, report, {
      noun: "tool",
      name,
      path,
      at: onKey(...path),
      why,
      help: "list or remove it",
    });
  }
}

function reportFragments(context: CheckContext, report: Report): void {
  const { pack, exists } = context;
  if (pack.fragments === undefined) return;
  const used = includedFragments(context);
  // A name that leads nowhere may have meant any of the unused ones.
  if ([...used].some((name) => !exists("fragments", name))) return;
  for (const name of Object.keys(pack.fragments ?? {})) {
    if (used.has(name)) continue;
    const path = ["fragments", name];
    const why = "no template includes it";
    const help = "include or remove it";
    reportPart(context, report, { noun: "fragment", name, path, at: onKey(...path), why, help });
  }
}

const MENTION = /fragments?\s*[.:]\s*([A-Za-z0-9_-]+)/g;

/**
 * By any spelling and in any notation, also by other fragments; one that includes only itself is not used.
 */
function includedFragments({ pack }: CheckContext): ReadonlySet<string> {
  const used = new Set<string>();
  const delimiters = delimitersOf(pack.template_engine.syntax) ?? defaultDelimiters;
  const scan = (text: string, pieces: readonly Piece[], self?: string) => {
    const names = [...text.matchAll(MENTION)].map((match) => match[1] as string);
    for (const piece of pieces) names.push(includedFragment(piece, pack.fragments) ?? "");
    for (const name of names) if (name !== "" && name !== self) used.add(name);
  };
  for (const texts of promptTexts(pack).values()) {
    for (const { path, text, pieces } of texts) if (path[0] === "prompts") scan(text, pieces);
  }
  for (const [name, text] of Object.entries(pack.fragments ?? {})) {
    scan(text, parseTemplate(text, delimiters), name);
  }
  for (const { kind, value } of packPaths(pack)) {
    const named = kind === "schema" ? fragmentNamed(value) : undefined;
    if (named !== undefined) used.add(named);
  }
  return used;
}

/** Roles a prompt or step can name. The host uses the others, such as embeddings, by itself. */
const NAMED_ROLES: ReadonlySet<string> = new Set(["llm", "inference"]);

function reportProviders(context: CheckContext, report: Report): void {
  const providers = context.pack.requires?.providers ?? [];
  const list = ["requires", "providers"];
  if (!isWholeList(context, list, providers)) return;
  const used = namedThings(context).providers;
  const isLost = [...used].some((name) => name !== "default" && !hasKey(providers, name));
  if (isLost) return;
  for (const [index, provider] of providers.entries()) {
    const { key, role } = typeof provider === "string" ? { key: provider, role: "llm" } : provider;
    if (key === "default" || used.has(key) || !NAMED_ROLES.has(role)) continue;
    const path = [...list, index];
    const at = typeof provider === "string" ? onValue(...path) : onValue(...path, "key");
    const why = "no prompt or step names it";
    reportPart(context, report, {
      noun: "provider",
      name: key,
      path,
      at,
      why,
      help: "name it, or remove it",
    });
  }
}

type Providers = NonNullable<NonNullable<CheckContext["pack"]["requires"]>["providers"]>;

const hasKey = (providers: Providers, name: string): boolean =>
  providers.some((provider) => (typeof provider === "string" ? provider : provider.key) === name);
