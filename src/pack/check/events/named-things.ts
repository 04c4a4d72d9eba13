// What the file names where, read from the document itself: a state or prompt whose shape is wrong still uses
// what it names, so nothing is called unused because of another mistake.

import type { Node } from "../../read/tree.ts";
import { nodeAt } from "../../read/tree.ts";
import type { CheckContext } from "../rule.ts";

interface NamedThings {
  readonly prompts: ReadonlySet<string>;
  readonly compositions: ReadonlySet<string>;
  readonly tools: ReadonlySet<string>;
  readonly providers: ReadonlySet<string>;
}

const known = new WeakMap<CheckContext, NamedThings>();

export function namedThings(context: CheckContext): NamedThings {
  const before = known.get(context);
  if (before !== undefined) return before;
  const { root } = context;
  const part = (key: string) => nodeAt(root, [key]);
  const inSteps = collect([part("compositions")]);
  const everywhere = collect([part("workflow"), part("compositions"), part("prompts"), part("evals")]);
  const named = {
    prompts: new Set([
      ...everywhere("prompt_task"),
      ...texts(nodeAt(root, ["agents", "entry"])),
      ...keysOf(nodeAt(root, ["agents", "members"])),
    ]),
    compositions: everywhere("composition"),
    tools: new Set([
      ...keysOf(part("prompts")).flatMap((prompt) => texts(nodeAt(root, ["prompts", prompt, "tools"]))),
      ...["tool", "tools", "tool_called"].flatMap((key) => [...inSteps(key)]),
      ...keysOf(nodeAt(root, ["workflow", "engine", "result_bindings"])),
    ]),
    providers: everywhere("provider"),
  };
  known.set(context, named);
  return named;
}

/** Every text found as the value of a key, or in a list that is its value, anywhere in the given parts. */
function collect(parts: readonly (Node | undefined)[]): (key: string) => ReadonlySet<string> {
  const byKey = new Map<string, Set<string>>();
  const stack = parts.filter((part) => part !== undefined);
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.kind === "list") stack.push(...node.items);
    if (node.kind !== "map") continue;
    for (const { key, value } of node.entries) {
      // These say what was tried and what others may add; they use nothing.
      if (key === "tested_models" || key === "extensions") continue;
      stack.push(value);
      const found = byKey.get(key) ?? new Set();
      for (const text of texts(value)) found.add(text);
      byKey.set(key, found);
    }
  }
  return (key) => byKey.get(key) ?? new Set();
}

function texts(node: Node | undefined): readonly string[] {
  if (node === undefined || node.kind === "map") return [];
  if (node.kind === "list") return node.items.filter((item) => item.kind === "scalar").flatMap(texts);
  return typeof node.value === "string" ? [node.value] : [];
}

const keysOf = (node: Node | undefined): readonly string[] =>
  node?.kind === "map" ? node.entries.map((entry) => entry.key) : [];
