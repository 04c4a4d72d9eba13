// Where names stand in a pack: keys that define them and values that refer to them.

import type { Path } from "../../../base/json.ts";
import type { Node, ScalarStyle, Span } from "../../read/tree.ts";

interface NamePlace {
  /** What the name is of: a state, an event, a target. */
  readonly noun: string;
  readonly name: string;
  readonly style: ScalarStyle;
  readonly span: Span;
  readonly path: Path;
  readonly on: "key" | "value";
}

interface Names {
  /** What the keys of this mapping name. */
  readonly keys?: string;
  /** What this text names. */
  readonly value?: string;
  /** Each entry or item. */
  readonly each?: Names;
  readonly fields?: Readonly<Record<string, Names>>;
}

const named = (value: string): Names => ({ value });
const list = (value: string): Names => ({ each: { value } });

const stepFields: Record<string, Names> = {
  id: named("step"),
  depends_on: list("step"),
  prompt_task: named("prompt"),
  provider: named("provider"),
  tool: named("tool"),
  tools: list("tool"),
  // oxlint-disable-next-line unicorn/no-thenable -- the specification's name for a branch; never awaited
  then: named("step"),
  else: named("step"),
};
stepFields["branches"] = { each: { fields: stepFields } };

const state: Names = {
  fields: {
    prompt_task: named("prompt"),
    on_event: { keys: "event", each: named("target") },
    on_max_visits: named("target"),
    composition: named("composition"),
    artifacts: { keys: "artifact" },
  },
};

const prompt: Names = {
  fields: {
    id: named("prompt"),
    provider: named("provider"),
    tools: list("tool"),
    tool_policy: { fields: { blocklist: list("tool") } },
    variables: { each: { fields: { name: named("variable") } } },
  },
};

const packNames: Names = {
  fields: {
    prompts: { keys: "prompt", each: prompt },
    fragments: { keys: "fragment" },
    tools: { keys: "tool" },
    workflow: {
      fields: {
        entry: named("entry"),
        states: { keys: "state", each: state },
        engine: { fields: { result_bindings: { keys: "tool", each: named("artifact") } } },
      },
    },
    agents: {
      fields: {
        entry: named("entry"),
        members: { keys: "agent", each: { fields: { state: named("target") } } },
      },
    },
    compositions: {
      keys: "composition",
      each: { fields: { output: named("step"), steps: { each: { fields: stepFields } } } },
    },
    requires: { fields: { providers: { each: { value: "provider", fields: { key: named("provider") } } } } },
  },
};

/** In file order, each place once. */
export function* namePlaces(root: Node): Generator<NamePlace> {
  // An alias shows the same text again.
  const seen = new Set<number>();
  for (const place of placesIn(root, packNames, [])) {
    if (seen.has(place.span.start)) continue;
    seen.add(place.span.start);
    yield place;
  }
}

function* placesIn(node: Node, names: Names, path: Path): Generator<NamePlace> {
  if (node.kind === "scalar") {
    if (names.value === undefined || typeof node.value !== "string") return;
    yield { noun: names.value, name: node.value, style: node.style, span: node.span, path, on: "value" };
  } else if (node.kind === "list") {
    if (names.each === undefined) return;
    for (const [index, item] of node.items.entries()) yield* placesIn(item, names.each, [...path, index]);
  } else {
    for (const { key, keySpan, keyStyle, value } of node.entries) {
      const at = [...path, key];
      if (names.keys !== undefined) {
        yield { noun: names.keys, name: key, style: keyStyle, span: keySpan, path: at, on: "key" };
      }
      const inner = names.each ?? (Object.hasOwn(names.fields ?? {}, key) ? names.fields?.[key] : undefined);
      if (inner !== undefined) yield* placesIn(value, inner, at);
    }
  }
}
