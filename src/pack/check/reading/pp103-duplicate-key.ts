// PP103: a key occurs twice in one mapping.

import type { Path } from "../../../base/json.ts";
import { LineIndex } from "../../read/line-index.ts";
import type { Entry, MapNode, Node } from "../../read/tree.ts";
import type { Report, Rule } from "../rule.ts";

/** A file of nothing but repetitions is not helped by more. */
const REPORTS_MAX = 100;

export const duplicateKey: Rule = {
  code: "PP103",
  severity: "error",
  title: "key is defined twice",
  explain:
    "A mapping has one value for each key. Where a key occurs twice, some readers take the first, some " +
    "the last, and some refuse the file; a state or event that seems to be there may be lost. Delete or " +
    "rename one.",
  bad: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say goodbye. }
`,
  good: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
  leave: { id: leave, name: Leave, version: 1.0.0, system_template: Say goodbye. }
`,
  check: (context, report) => {
    const repetitions: Repetition[] = [];
    findRepeated(context.root, [], repetitions);
    if (repetitions.length === 0) return;
    const lines = new LineIndex(context.text);
    // An alias shows the same mapping again.
    const told = new Set<number>();
    for (const repetition of repetitions) {
      const { start } = repetition.again.keySpan;
      if (told.has(start) || told.size >= REPORTS_MAX) continue;
      told.add(start);
      tell(repetition, lines, report);
    }
  },
};

interface Repetition {
  readonly path: Path;
  readonly first: Entry;
  /** The second entry with that key. */
  readonly again: Entry;
  readonly times: number;
}

function tell({ path, first, again, times }: Repetition, lines: LineIndex, report: Report): void {
  const at = lines.position(first.keySpan.start);
  const { key } = first;
  report({
    at: { path, on: "key", within: again.keySpan },
    message: `\`${key}\` is defined ${times === 2 ? "twice" : `${times} times`}`,
    why: `the first is at ${at.line}:${at.column}; readers disagree which wins`,
    help: "delete or rename one",
    data: { key, times, line: at.line, column: at.column },
  });
}

/** `path` is that of the node; it is changed on the way and restored. */
function findRepeated(node: Node, path: (string | number)[], found: Repetition[]): void {
  if (node.kind === "scalar") return;
  const children = node.kind === "list" ? node.items.entries() : keyed(node, path, found);
  for (const [key, child] of children) {
    path.push(key);
    findRepeated(child, path, found);
    path.pop();
  }
}

/** The values of a mapping by key, after its own repetitions were noted. */
function keyed(node: MapNode, path: Path, found: Repetition[]): readonly (readonly [string, Node])[] {
  const byKey = new Map<string, Entry[]>();
  for (const entry of node.entries) {
    const same = byKey.get(entry.key);
    if (same === undefined) byKey.set(entry.key, [entry]);
    else same.push(entry);
  }
  if (byKey.size < node.entries.length) {
    for (const [key, [first, again, ...more]] of byKey) {
      if (first === undefined || again === undefined) continue;
      found.push({ path: [...path, key], first, again, times: more.length + 2 });
    }
  }
  return node.entries.map((entry) => [entry.key, entry.value]);
}
