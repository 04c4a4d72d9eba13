// Graphs with names nobody should choose, for the tests of every format.

import * as fc from "fast-check";
import type { GraphEdge, GraphModel, GraphNode } from "../../src/pack/graph/model.ts";

const nasty = [
  "a\nb",
  'say "hi"',
  "]]>",
  "-->",
  "<!-- x -->",
  "&amp; &lt; #35;",
  "__proto__",
  "constructor",
  "end",
  "subgraph",
  "😀 emoji",
  "שלום",
  "\u0000\u0007\u001b[31m",
  "\ud800",
  "%%{init: {}}%%",
  "`code` **bold** 1. list",
  "\\N \\G \\",
  "|pipe| {brace} [bracket] (paren)",
  "°°35¶ß",
  "",
  " ",
  "x".repeat(300),
];

export const anyName = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string(),
);

export function node(name: string, more: Partial<GraphNode> = {}): GraphNode {
  return {
    name,
    description: "",
    entry: false,
    agents: [],
    terminal: false,
    external: false,
    hybrid: false,
    composition: null,
    guarded: false,
    maxVisits: null,
    onMaxVisits: null,
    prompt: "p",
    ...more,
  };
}

export function graph(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): GraphModel {
  return { id: "sample", name: "Sample", version: "1.0.0", kind: "workflow", nodes, edges };
}

/** Up to six nodes of every kind, up to ten edges, every text from the nasty ones. */
export const anyGraph: fc.Arbitrary<GraphModel> = fc
  .uniqueArray(anyName, { minLength: 1, maxLength: 6 })
  .chain((names) => {
    const index = fc.nat(names.length - 1);
    const edge = fc.record({
      from: index,
      to: index,
      kind: fc.constantFrom("event" as const, "redirect" as const),
      labels: fc.array(anyName, { minLength: 1, maxLength: 7 }),
    });
    const flags = fc.record({
      agents: fc.array(anyName, { maxLength: 2 }),
      terminal: fc.boolean(),
      external: fc.boolean(),
      hybrid: fc.boolean(),
      composition: fc.option(anyName),
      maxVisits: fc.option(fc.integer({ min: 1, max: 99 })),
      prompt: fc.option(anyName),
    });
    const all = fc.array(flags, { minLength: names.length, maxLength: names.length });
    return fc.tuple(all, fc.array(edge, { maxLength: 10 }), anyName).map(([each, edges, title]) => {
      const nodes = names.map((name, at) => {
        const more = each[at] as Partial<GraphNode>;
        return node(name, { ...more, entry: at === 0, guarded: more.maxVisits !== null });
      });
      return { ...graph(nodes, edges), name: title };
    });
  });
