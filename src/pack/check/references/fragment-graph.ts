// Fragments as a graph: which ones each text includes, and the circles among them.

import { components } from "../../../base/components.ts";
import type { Path } from "../../../base/json.ts";
import { defaultDelimiters, delimitersOf, fragmentName, parseTemplate } from "../../../core/template.ts";
import { CycleSearch, type Step } from "../../flow/shortest-cycle.ts";
import type { PackFile } from "../../shape/generated/pack-file.ts";
import { type TemplateUse } from "../../template-uses.ts";

/** A placeholder that includes a fragment. */
export interface Inclusion {
  readonly name: string;
  readonly use: TemplateUse;
}

/** What each fragment includes, in file order. Fragments no prompt uses are looked at too. */
export function inclusionsOf(pack: PackFile): ReadonlyMap<string, readonly Inclusion[]> {
  const delimiters = delimitersOf(pack.template_engine.syntax) ?? defaultDelimiters;
  const byFragment = new Map<string, readonly Inclusion[]>();
  for (const [fragment, text] of Object.entries(pack.fragments ?? {})) {
    const path: Path = ["fragments", fragment];
    const found: Inclusion[] = [];
    for (const hole of parseTemplate(text, delimiters)) {
      const name = hole.kind === "text" ? undefined : fragmentName(hole);
      if (hole.kind === "text" || name === undefined) continue;
      found.push({ name, use: { prompt: "", hole, path, nth: 0 } });
    }
    byFragment.set(fragment, found);
  }
  return byFragment;
}

/** The shortest circle through the first fragment of each group that includes itself, as inclusions. */
export function fragmentCircles(
  byFragment: ReadonlyMap<string, readonly Inclusion[]>,
): readonly (readonly Inclusion[])[] {
  const names = [...byFragment.keys()];
  const index = new Map(names.map((name, i) => [name, i]));
  const edges: Inclusion[] = [];
  const offsets = [0];
  for (const inclusions of byFragment.values()) {
    for (const inclusion of inclusions) if (index.has(inclusion.name)) edges.push(inclusion);
    offsets.push(edges.length);
  }
  const targets = edges.map(({ name }) => index.get(name) as number);
  const rows = { offsets, targets, count: names.length };
  const groups = components(rows);
  const search = new CycleSearch(rows, groups);
  const done = new Set<number>();
  const circles: (readonly Inclusion[])[] = [];
  for (let node = 0; node < names.length; node++) {
    const group = groups.of[node] as number;
    if (done.has(group)) continue;
    const steps = search.shortest({ nodes: [node], isWanted: () => true });
    if (steps === undefined) continue;
    done.add(group);
    circles.push(steps.map(({ edge }: Step) => edges[edge] as Inclusion));
  }
  return circles;
}
