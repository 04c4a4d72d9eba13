import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyGraph, graph, node } from "../../../test/graph/hostile-graphs.ts";
import { toDot } from "./dot.ts";

test("limits are labels beside the node, ends have two borders and redirects are dashed", () => {
  const nodes = [
    node("work", { entry: true, maxVisits: 6, prompt: "coder", agents: ["helper"] }),
    node("ask", { external: true, prompt: "ask" }),
    node("done", { terminal: true, prompt: "done" }),
  ];
  const edges = [
    { from: 0, to: 2, kind: "event" as const, labels: ["Done", "Skip"] },
    { from: 0, to: 1, kind: "redirect" as const, labels: ["after 6 visits"] },
  ];
  const lines = toDot(graph(nodes, edges)).split("\n");
  expect(lines[0]).toBe("digraph pack {");
  expect(lines.slice(5)).toEqual([
    String.raw`  s_work [label="work\nprompt coder", xlabel="max 6"];`,
    '  s_ask [label="ask\\nexternal", shape="hexagon", style="dashed"];',
    '  s_done [label="done", peripheries="2"];',
    '  start [shape="point", width="0.18", label=""];',
    "  start -> s_work;",
    '  agent0_0 [shape="plaintext", label="agent helper"];',
    "  agent0_0 -> s_work;",
    String.raw`  s_work -> s_done [label="Done\nSkip"];`,
    '  s_work -> s_ask [label="after 6 visits", style="dashed"];',
    "}",
    "",
  ]);
});

test("backslashes, quotes and ampersands of a name are text", () => {
  const text = toDot(graph([node('a\\N "b" &lt;', { prompt: null })], []));
  expect(text).toContain(String.raw`s0 [label="a\\N \"b\" &amp;lt;"];`);
});

const STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\[\\"n])*"`;
const ATTRIBUTES = String.raw`\[[a-z]+=${STRING}(?:, [a-z]+=${STRING})*\]`;
const forms = [
  String.raw`digraph pack \{`,
  String.raw`\}`,
  String.raw`  (?:\w+=${STRING};(?: |$))+`,
  String.raw`  \w+ ${ATTRIBUTES};`,
  String.raw`  \w+ -> \w+(?: ${ATTRIBUTES})?;`,
];
const LINE = new RegExp(`^(?:${forms.join("|")})$`);

test("whatever the names are, every line is one of the few forms used", () => {
  fc.assert(
    fc.property(anyGraph, (any) => {
      for (const line of toDot(any).trimEnd().split("\n")) expect(line).toMatch(LINE);
    }),
  );
});
