// The texts a prompt is made of: its templates and every fragment they include, whatever the spelling.

import type { Path } from "../../../base/json.ts";
import {
  type Delimiters,
  defaultDelimiters,
  delimitersOf,
  type Piece,
  parseTemplate,
} from "../../../core/template.ts";
import type { PackFile, Prompt } from "../../shape/generated/pack-file.ts";

export interface PromptText {
  readonly path: Path;
  readonly text: string;
  readonly pieces: readonly Piece[];
}

const known = new WeakMap<PackFile, ReadonlyMap<string, readonly PromptText[]>>();

/**
 * By prompt, in the order a reader meets them. A fragment's text is one object for all prompts that use
 * it.
 */
export function promptTexts(pack: PackFile): ReadonlyMap<string, readonly PromptText[]> {
  const before = known.get(pack);
  if (before !== undefined) return before;
  const reader = new TextReader(pack);
  const texts = new Map<string, readonly PromptText[]>();
  for (const [key, prompt] of Object.entries(pack.prompts)) texts.set(key, reader.textsOf(key, prompt));
  known.set(pack, texts);
  return texts;
}

/** The fragment a piece includes: by the specification's spelling, by a bare name or with a colon. */
export function includedFragment(piece: Piece, fragments: PackFile["fragments"]): string | undefined {
  if (fragments === undefined || piece.kind === "text") return undefined;
  const name = piece.kind === "odd" ? piece.name : spelledFragment(piece.path);
  return name !== undefined && Object.hasOwn(fragments, name) ? name : undefined;
}

function spelledFragment(path: readonly (string | number)[]): string | undefined {
  const name = path[0] === "fragments" ? path[1] : path.length === 1 ? path[0] : undefined;
  return typeof name === "string" ? name : undefined;
}

/** Fragments looked at to find out whether an inclusion would lead back to where it stands. */
const CHAIN_MAX = 1_000;

/** A text may come to include a fragment: it exists, and does not lead back to the fragment the text is. */
export function canInclude(pack: PackFile, path: Path, name: string): boolean {
  const { fragments } = pack;
  if (fragments === undefined || !Object.hasOwn(fragments, name)) return false;
  if (path[0] !== "fragments") return true;
  const queue = [name];
  const seen = new Set(queue);
  for (let i = 0; i < queue.length && i < CHAIN_MAX; i++) {
    if (queue[i] === path[1]) return false;
    for (const piece of parseTemplate(fragments[queue[i] as string] ?? "", delimiters(pack))) {
      const next = includedFragment(piece, fragments);
      if (next === undefined || seen.has(next)) continue;
      seen.add(next);
      queue.push(next);
    }
  }
  return queue.length <= CHAIN_MAX;
}

const delimiters = (pack: PackFile): Delimiters =>
  delimitersOf(pack.template_engine.syntax) ?? defaultDelimiters;

class TextReader {
  readonly #pack: PackFile;
  readonly #fragments = new Map<string, PromptText>();

  constructor(pack: PackFile) {
    this.#pack = pack;
  }

  textsOf(key: string, prompt: Prompt): readonly PromptText[] {
    const texts = ownTexts(key, prompt).map(([path, text]) => this.#read(path, text));
    const seen = new Set<string>();
    // The list grows while it is walked: fragments may include fragments.
    for (let i = 0; i < texts.length; i++) {
      for (const piece of (texts[i] as PromptText).pieces) {
        const name = includedFragment(piece, this.#pack.fragments);
        if (name === undefined || seen.has(name)) continue;
        seen.add(name);
        texts.push(this.#fragment(name));
      }
    }
    return texts;
  }

  #fragment(name: string): PromptText {
    const before = this.#fragments.get(name);
    if (before !== undefined) return before;
    const fragment = this.#read(["fragments", name], this.#pack.fragments?.[name] ?? "");
    this.#fragments.set(name, fragment);
    return fragment;
  }

  #read(path: Path, text: string): PromptText {
    return { path, text, pieces: parseTemplate(text, delimiters(this.#pack)) };
  }
}

function ownTexts(key: string, prompt: Prompt): readonly (readonly [Path, string])[] {
  const texts: [Path, string][] = [[["prompts", key, "system_template"], prompt.system_template]];
  for (const [model, override] of Object.entries(prompt.model_overrides ?? {})) {
    for (const field of ["system_template_prefix", "system_template", "system_template_suffix"] as const) {
      const text = override[field];
      if (text !== undefined) texts.push([["prompts", key, "model_overrides", model, field], text]);
    }
  }
  return texts;
}
