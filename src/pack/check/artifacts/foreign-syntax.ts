// Template syntax that the pack's engine does not read: placeholders in another notation, blocks and
// filters. All of it is sent to the model as text. Every expression here stops at a brace or a line end, so
// that scanning stays linear.

import { toPointer } from "../../../base/json.ts";
import type { Delimiters } from "../../../core/template.ts";
import type { PackFile, TemplateEngine } from "../../shape/generated/pack-file.ts";
import { promptTexts } from "./prompt-texts.ts";

export type Feature = NonNullable<TemplateEngine["features"]>[number];

export interface ForeignPiece {
  readonly raw: string;
  readonly start: number;
  /** What it speaks of: `user.name` of `${user.name}`, the first word of a block. */
  readonly name: string;
  /** The features of `template_engine` it would need; none for a placeholder. */
  readonly features: readonly Feature[];
}

const PLACEHOLDER = /(\$?)(\{{1,2})\s*(\.?)([A-Za-z_][\w.-]*(?:\[\d{1,9}\])?)\s*(\}{1,2})/g;

/** Placeholders in a notation other than the declared one: `${x}`, `{{x}}`, `{x}` and `{{.x}}`. */
export function foreignPlaceholders(text: string, declared: Delimiters): readonly ForeignPiece[] {
  const pieces: ForeignPiece[] = [];
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [raw, dollar, open, dot, name, close] = match as unknown as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const isBalanced = open.length === close.length && !(dollar !== "" && open.length === 2);
    const isDeclared = `${dollar}${open}` === declared.open && close === declared.close && dot === "";
    if (!isBalanced || isDeclared || (dot !== "" && open.length === 1)) continue;
    const isInside = text[match.index - 1] === "{" || text[match.index + raw.length] === "}";
    if (!isInside) pieces.push({ raw, start: match.index, name, features: [] });
  }
  return pieces;
}

const SECTION = /\{\{[-~]?\s*([#^>])\s*([A-Za-z_][\w-]*)[^{}\n]*\}\}/g;
const STATEMENT = /(?:\{%-?\s*|\{\{-?\s*)(if|unless|each|for|range|with)\s[^{}%\n]*(?:%\}|\}\})/g;
const FILTER = /\{\{\s*([A-Za-z_][\w.-]*)\s*\|\s*[A-Za-z_][^{}\n]*\}\}/g;

/** Conditions, loops and filters, in file order. */
export function blocksIn(text: string): readonly ForeignPiece[] {
  const pieces: ForeignPiece[] = [];
  for (const match of text.matchAll(SECTION)) {
    const [raw, , name] = match as unknown as [string, string, string];
    pieces.push({ raw, start: match.index, name, features: featuresOf(name) });
  }
  for (const match of text.matchAll(STATEMENT)) {
    const [raw, name] = match as unknown as [string, string];
    pieces.push({ raw, start: match.index, name, features: featuresOf(name) });
  }
  for (const match of text.matchAll(FILTER)) {
    const [raw, name] = match as unknown as [string, string];
    pieces.push({ raw, start: match.index, name, features: ["filters"] });
  }
  return pieces.sort((a, b) => a.start - b.start);
}

/** A section named after a value is a condition or a loop, whatever the value turns out to be. */
function featuresOf(word: string): readonly Feature[] {
  if (/^(?:if|unless|with)$/.test(word)) return ["conditionals"];
  return /^(?:each|for|range)$/.test(word) ? ["loops"] : ["conditionals", "loops"];
}

/** Words that look like variables inside a block of other template languages. */
export const isBlockWord = (name: string): boolean => /^(?:else|end|endif|endfor|this|loop|item)$/.test(name);

const known = new WeakMap<PackFile, ReadonlySet<string>>();

/** Pointers of the texts that hold blocks. */
export function textsWithBlocks(pack: PackFile): ReadonlySet<string> {
  const before = known.get(pack);
  if (before !== undefined) return before;
  const pointers = new Set<string>();
  for (const texts of promptTexts(pack).values()) {
    for (const { path, text } of texts) {
      const pointer = toPointer(path);
      if (!pointers.has(pointer) && blocksIn(text).length > 0) pointers.add(pointer);
    }
  }
  known.set(pack, pointers);
  return pointers;
}
