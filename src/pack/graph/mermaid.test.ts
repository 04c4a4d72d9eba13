import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyGraph, anyName, graph, node } from "../../../test/graph/hostile-graphs.ts";
import { oneLine } from "./label-text.ts";
import { toMermaid } from "./mermaid.ts";

test("a loop is a flowchart with shapes, labels and a dashed redirect", () => {
  const nodes = [
    node("plan", { entry: true, prompt: "plan" }),
    node("await_ok", { external: true, maxVisits: 2, prompt: "await_ok", agents: ["judge"] }),
    node("done", { terminal: true, prompt: "summary" }),
  ];
  const edges = [
    { from: 0, to: 1, kind: "event" as const, labels: ["Ready", "Urgent"] },
    { from: 1, to: 2, kind: "redirect" as const, labels: ["after 2 visits"] },
  ];
  expect(toMermaid(graph(nodes, edges))).toBe(
    [
      "flowchart TD",
      "  %% Sample 1#46;0#46;0",
      '  s_plan("plan")',
      '  s_await_ok{{"await_ok<br/>max 2<br/>external"}}',
      '  s_done((("done<br/>prompt summary")))',
      '  start((" "))',
      "  start --> s_plan",
      "  style start fill:#64748b,stroke:#64748b",
      '  agent1_0(["agent judge"])',
      "  agent1_0 --> s_await_ok",
      '  s_plan -->|"Ready<br/>Urgent"| s_await_ok',
      '  s_await_ok -.->|"after 2 visits"| s_done',
      "",
    ].join("\n"),
  );
});

const LABEL = String.raw`"(?:[^\u0000-\u001f"#&;<>]|#\d+;|<br/>)*"`;
const ID = String.raw`(?:s_[A-Za-z]\w*|s\d+|start|agent\d+_\d+)`;
const ROUND = String.raw`\(${LABEL}\)|\(\(${LABEL}\)\)|\(\(\(${LABEL}\)\)\)|\(\[${LABEL}\]\)`;
const EDGED = String.raw`\{\{${LABEL}\}\}|\[\[${LABEL}\]\]`;
const forms = [
  "flowchart TD",
  String.raw`  %% [^"<>{}\n]*`,
  `  ${ID}(?:${ROUND}|${EDGED})`,
  String.raw`  ${ID} (?:-->|-\.->)(?:\|${LABEL}\|)? ${ID}`,
  "  style start [a-z#0-9:,]+",
];
const LINE = new RegExp(`^(?:${forms.join("|")})$`);

test("whatever the names are, every line is one of the few forms used", () => {
  fc.assert(
    fc.property(anyGraph, (any) => {
      for (const line of toMermaid(any).trimEnd().split("\n")) expect(line).toMatch(LINE);
    }),
  );
});

test("a label decodes to the name it stands for", () => {
  fc.assert(
    fc.property(anyName, (name) => {
      const line = toMermaid(graph([node(name, { prompt: null })], [])).split("\n")[2] as string;
      const label = /\("(.*)"\)$/.exec(line)?.[1] as string;
      const decoded = label.replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
      expect(decoded).toBe(oneLine(name));
    }),
  );
});

test("the signs Mermaid marks its entities with cannot be forged", () => {
  expect(toMermaid(graph([node("°°35¶ß", { prompt: null })], []))).toContain('"#176;#176;35#182;ß"');
});

test("nodes with any names have different identifiers", () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyName, { minLength: 2 }), (names) => {
      const lines = toMermaid(
        graph(
          names.map((name) => node(name)),
          [],
        ),
      )
        .trimEnd()
        .split("\n")
        .slice(2);
      const ids = lines.map((line) => /^ {2}(\w+)/.exec(line)?.[1]);
      expect(new Set(ids).size).toBe(names.length);
    }),
  );
});
