// PP513: a fragment by another spelling, template syntax the pack's engine does not read, or a feature that
// no runtime can honour.

import { defaultDelimiters, delimitersOf } from "../../../core/template.ts";
import { removeAt } from "../../fix/edits.ts";
import { type CheckContext, onValue, type Report, type Reported, type Rule } from "../rule.ts";
import { blocksIn, type Feature, type ForeignPiece, foreignPlaceholders } from "./foreign-syntax.ts";
import { reportFragments } from "./fragment-spelling.ts";
import { canInclude, type PromptText, promptTexts } from "./prompt-texts.ts";
import { editInText, placeInText } from "./text-map.ts";
import { declaredNames, isWholeList } from "./variable-list.ts";

export const otherSpelling: Rule = {
  code: "PP513",
  severity: "warning",
  fix: "unsafe",
  title: "template syntax that is not read",
  explain:
    "Fragments are written `{{fragments.name}}`; the bare name and `{{fragment:name}}` come from other " +
    "tools. Placeholders follow `template_engine.syntax`, and anything in another notation is sent to the " +
    "model as text. Conditions, loops and filters can be listed as features, but the specification gives " +
    "them no syntax, so they are not supported. Write the placeholder in the pack's own notation, or " +
    "decide before the prompt is rendered.",
  bad: `
fragments: { tone: Be brief. }
prompts:
  help: { id: help, name: Help, version: 1.0.0, system_template: "{{fragment:tone}} Answer the question." }
`,
  good: `
fragments: { tone: Be brief. }
prompts:
  help: { id: help, name: Help, version: 1.0.0, system_template: "{{fragments.tone}} Answer the question." }
`,
  check: (context, report) => {
    reportEngine(context, report);
    reportFragments(context, report);
    const listed = listedFeatures(context);
    const uses = new Map<Feature, Reported["at"]>();
    for (const [text, prompts] of textsWithPrompts(context)) {
      reportPlaceholders(context, report, { text, prompts });
      reportBlocks(context, report, { text, listed, uses });
    }
    reportFeatures(context, report, { listed, uses });
  },
};

const KNOWN_SYNTAXES: ReadonlySet<string> = new Set(["{{variable}}", "${variable}", "{variable}"]);
const UNSUPPORTED: ReadonlySet<string> = new Set(["conditionals", "loops", "filters"]);

function reportEngine({ pack, isBroken }: CheckContext, report: Report): void {
  const { syntax } = pack.template_engine;
  if (isBroken("template_engine", "syntax") || KNOWN_SYNTAXES.has(syntax.replaceAll(/\s/g, ""))) return;
  const isReadable = delimitersOf(syntax) !== undefined;
  report({
    at: onValue("template_engine", "syntax"),
    message: `\`${syntax}\` is not a template syntax of the specification`,
    why: isReadable
      ? "only {{variable}}, ${variable} and {variable} are documented; other readers send the rest as text"
      : "it is no sample of a placeholder, so {{variable}} is assumed",
    help: "write `{{variable}}`",
    data: { syntax },
  });
}

function listedFeatures({ pack }: CheckContext): ReadonlySet<Feature> {
  return new Set((pack.template_engine.features ?? []).filter((feature) => UNSUPPORTED.has(feature)));
}

interface FeatureInput {
  readonly listed: ReadonlySet<Feature>;
  /** The first place that uses each listed feature. */
  readonly uses: Map<Feature, Reported["at"]>;
}

function reportFeatures(context: CheckContext, report: Report, { listed, uses }: FeatureInput): void {
  const features = context.pack.template_engine.features ?? [];
  const list = ["template_engine", "features"];
  if (!isWholeList(context, list, features)) return;
  for (const [index, feature] of features.entries()) {
    if (!listed.has(feature)) continue;
    const use = uses.get(feature);
    report({
      at: onValue(...list, index),
      message: `template feature \`${feature}\` is not supported`,
      why: "the specification gives it no syntax, so what uses it is sent as text",
      help: "remove it, and decide before the prompt is rendered",
      related: use === undefined ? [] : [{ at: use, message: "used here" }],
      fix: { title: `remove \`${feature}\``, edits: removeAt(context.root, context.text, [...list, index]) },
      data: { feature },
    });
  }
}

/** Each text once, with the prompts it is part of. */
function textsWithPrompts({ pack }: CheckContext): ReadonlyMap<PromptText, readonly string[]> {
  const byText = new Map<PromptText, string[]>();
  for (const [prompt, texts] of promptTexts(pack)) {
    for (const text of texts) {
      const prompts = byText.get(text);
      if (prompts === undefined) byText.set(text, [prompt]);
      else prompts.push(prompt);
    }
  }
  return byText;
}

interface TextInput {
  readonly text: PromptText;
  readonly prompts: readonly string[];
}

function reportPlaceholders(context: CheckContext, report: Report, { text, prompts }: TextInput): void {
  const { pack, isBroken } = context;
  const declared = delimitersOf(pack.template_engine.syntax) ?? defaultDelimiters;
  if (isBroken("template_engine", "syntax")) return;
  const groups = byRaw(foreignPlaceholders(text.text, declared));
  if (groups.size === 0) return;
  const variables = new Set(prompts.flatMap((prompt) => [...(declaredNames(context, prompt) ?? [])]));
  for (const [raw, pieces] of groups) {
    const [first] = pieces;
    const isKnown = isKnownName(context, first.name, variables);
    // Two braces are hardly anything else, except where one brace is a placeholder and two may escape it.
    // One brace may be a code sample, so its name must be a known one.
    if (!isKnown && (declared.open === "{" || !/^\{\{\s*[^.]/.test(raw))) continue;
    const written = `${declared.open}${first.name}${declared.close}`;
    const [namespace, name = ""] = first.name.split(".");
    // A fragment that does not exist, or leads back here, would become an error by being read.
    const isSound = namespace !== "fragments" || canInclude(pack, text.path, name);
    const edits = pieces.flatMap((piece) => replaced(context, text, { piece, written }));
    report({
      at: placeOf(context, text, first),
      message: `\`${raw}\` is not a placeholder`,
      why: `the pack declares ${declared.open}variable${declared.close}, so it is sent as text`,
      help: `write \`${written}\``,
      ...(isSound && { fix: { title: `write \`${written}\``, edits } }),
      data: { placeholder: raw, prompt: prompts[0] ?? "", suggestion: written },
    });
  }
}

function byRaw(
  pieces: readonly ForeignPiece[],
): ReadonlyMap<string, readonly [ForeignPiece, ...ForeignPiece[]]> {
  const groups = new Map<string, [ForeignPiece, ...ForeignPiece[]]>();
  for (const piece of pieces) {
    const group = groups.get(piece.raw);
    if (group === undefined) groups.set(piece.raw, [piece]);
    else group.push(piece);
  }
  return groups;
}

function isKnownName({ exists }: CheckContext, name: string, variables: ReadonlySet<string>): boolean {
  const [first = "", second] = name.split(/[.[]/);
  if (second === undefined) return variables.has(first) || first === "workflow_context";
  if (first === "fragments") return exists("fragments", second);
  return first === "artifacts" || variables.has(first);
}

interface BlockInput extends FeatureInput {
  readonly text: PromptText;
}

/** One finding for a text: its other blocks go with the first. A listed feature is reported at the list. */
function reportBlocks(context: CheckContext, report: Report, { text, listed, uses }: BlockInput): void {
  let isReported = false;
  for (const piece of blocksIn(text.text)) {
    const feature = piece.features.find((one) => listed.has(one));
    if (feature !== undefined) {
      if (!uses.has(feature)) uses.set(feature, placeOf(context, text, piece));
      continue;
    }
    if (isReported || context.exists("fragments", piece.name)) continue;
    isReported = true;
    const isFilter = piece.features[0] === "filters";
    const delimiters = delimitersOf(context.pack.template_engine.syntax) ?? defaultDelimiters;
    const written = `${delimiters.open}${piece.name}${delimiters.close}`;
    report({
      at: placeOf(context, text, piece),
      message: `\`${shortened(piece.raw)}\` is not a placeholder`,
      why: `${isFilter ? "filters" : "blocks"} are not supported, so it is sent as text`,
      help: isFilter ? `write \`${written}\`` : "decide before the prompt is rendered, or use two prompts",
      ...(isFilter && {
        fix: { title: `write \`${written}\``, edits: replaced(context, text, { piece, written }) },
      }),
      data: { placeholder: piece.raw },
    });
  }
}

const placeOf = (context: CheckContext, { path }: PromptText, { start, raw }: ForeignPiece) =>
  placeInText(context, path, { start, end: start + raw.length });

function replaced(
  context: CheckContext,
  { path }: PromptText,
  { piece, written }: { piece: ForeignPiece; written: string },
) {
  const part = { start: piece.start, end: piece.start + piece.raw.length };
  return editInText(context, path, { part, written });
}

const shortened = (raw: string): string => (raw.length <= 60 ? raw : `${raw.slice(0, 59)}…`);
