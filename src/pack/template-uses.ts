// Every placeholder a prompt's templates hold, with the place it is written at. Fragments are followed, so a
// variable inside a fragment belongs to each prompt that uses the fragment.

import type { Path } from "../base/json.ts";
import {
  type Delimiters,
  defaultDelimiters,
  delimitersOf,
  fragmentName,
  type Hole,
  type Oddity,
  parseTemplate,
} from "../core/template.ts";
import type { PackFile } from "./shape/generated/pack-file.ts";

export interface TemplateUse {
  readonly prompt: string;
  readonly hole: Hole | Oddity;
  /** Where the text stands: a template of the prompt, or a fragment. */
  readonly path: Path;
  /** How many times the same raw placeholder stands before it in that text. */
  readonly nth: number;
}

/** Prompts times fragments can be many; a pack that needs more is told about the first of them. */
const USES_MAX = 100_000;

export function templateUses(pack: PackFile): readonly TemplateUse[] {
  const delimiters = delimitersOf(pack.template_engine.syntax) ?? defaultDelimiters;
  const uses: TemplateUse[] = [];
  const parsed = new Map<string, readonly WrittenHole[]>();
  const holesOfFragment = (name: string): readonly WrittenHole[] => {
    let holes = parsed.get(name);
    if (holes === undefined) {
      const { fragments } = pack;
      const text = fragments !== undefined && Object.hasOwn(fragments, name) ? fragments[name] : undefined;
      holes = holesOf(["fragments", name], text ?? "", delimiters);
      parsed.set(name, holes);
    }
    return holes;
  };
  for (const [prompt, spec] of Object.entries(pack.prompts)) {
    const visited = new Set<string>();
    const pending = templatesOf(prompt, spec).flatMap(({ path, text }) => holesOf(path, text, delimiters));
    // The list grows while it is read: the placeholders of a fragment follow those of the text that uses it.
    for (let at = 0; at < pending.length && uses.length < USES_MAX; at++) {
      const written = pending[at] as WrittenHole;
      uses.push({ prompt, ...written });
      const fragment = fragmentName(written.hole);
      if (fragment === undefined || visited.has(fragment)) continue;
      visited.add(fragment);
      for (const hole of holesOfFragment(fragment)) pending.push(hole);
    }
  }
  return uses;
}

/** The base template and what model overrides put in its place, before and after it. */
function templatesOf(key: string, prompt: PackFile["prompts"][string]): { path: Path; text: string }[] {
  const found: { path: Path; text: string }[] = [];
  found.push({ path: ["prompts", key, "system_template"], text: prompt.system_template });
  for (const [model, override] of Object.entries(prompt.model_overrides ?? {})) {
    for (const field of ["system_template_prefix", "system_template", "system_template_suffix"] as const) {
      const text = override[field];
      if (text !== undefined) found.push({ path: ["prompts", key, "model_overrides", model, field], text });
    }
  }
  return found;
}

type WrittenHole = Omit<TemplateUse, "prompt">;

function holesOf(path: Path, text: string, delimiters: Delimiters): readonly WrittenHole[] {
  const seen = new Map<string, number>();
  const holes: WrittenHole[] = [];
  for (const hole of parseTemplate(text, delimiters)) {
    if (hole.kind === "text") continue;
    const nth = seen.get(hole.raw) ?? 0;
    seen.set(hole.raw, nth + 1);
    holes.push({ hole, path, nth });
  }
  return holes;
}
