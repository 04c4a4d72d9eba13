// The pipelines language: what compiles to what, and what is refused (section 5; P12, P13, HZ-N).

import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Json } from "../../src/base/json.ts";
import { compilePipelines } from "../../src/gateway/pipeline/compile-pipelines.ts";
import { pipelineJson } from "../../src/gateway/pipeline/pipeline-json.ts";

function compiled(text: string) {
  const problems: string[] = [];
  const values = (parse(text) as { pipelines: Json[] }).pipelines;
  const pipelines = compilePipelines(values, (problem) => problems.push(problem));
  return { pipelines, problems };
}

const shape = (steps: string, others = "") => {
  const { pipelines, problems } = compiled(`pipelines:\n  - { name: p, on: go, steps: ${steps} }\n${others}`);
  expect(problems).toEqual([]);
  const p = pipelines.get("p");
  if (p === undefined) throw new Error("no pipeline");
  const { nodes, edges, entries, terminals } = pipelineJson(p) as {
    nodes: { id: string; uses: string }[];
    edges: { from: string; to: string }[];
    entries: string[];
    terminals: string[];
  };
  return {
    nodes: nodes.map(({ id, uses }) => `${id}=${uses}`),
    edges: edges.map(({ from, to }) => `${from}>${to}`),
    ...{ entries, terminals },
  };
};

describe("a pipeline compiles to nodes and edges (P13):", () => {
  test("a sequence, with ids by position", () => {
    expect(shape("[{ uses: a }, { id: x, uses: b }, { uses: c }]")).toEqual({
      nodes: ["step_1=a", "step_3=c", "x=b"],
      edges: ["step_1>x", "x>step_3"],
      ...{ entries: ["step_1"], terminals: ["step_3"] },
    });
  });

  test("a split without a join: what follows it follows every branch", () => {
    const steps =
      "[{ id: a, uses: a }, { split: [{ id: b, uses: b }, { id: c, uses: c }] }, { id: d, uses: d }]";
    expect(shape(steps)).toEqual({
      nodes: ["a=a", "b=b", "c=c", "d=d"],
      edges: ["a>b", "a>c", "b>d", "c>d"],
      ...{ entries: ["a"], terminals: ["d"] },
    });
  });

  test("a split at both ends, with sequences as branches", () => {
    const branch = "{ steps: [{ id: b, uses: b }, { id: c, uses: c }] }";
    expect(shape(`[{ split: [{ id: a, uses: a }, ${branch}] }]`)).toEqual({
      nodes: ["a=a", "b=b", "c=c"],
      edges: ["b>c"],
      ...{ entries: ["a", "b"], terminals: ["a", "c"] },
    });
  });

  test("a call in place, with the steps after it reached (R4)", () => {
    const others = "  - { name: q, on: other, steps: [{ id: a, uses: x }, { id: b, uses: y }] }\n";
    expect(shape("[{ id: a, uses: a }, { id: c, call: q }, { id: z, uses: z }]", others)).toEqual({
      nodes: ["a=a", "c/a=x", "c/b=y", "z=z"],
      edges: ["a>c/a", "c/a>c/b", "c/b>z"],
      ...{ entries: ["a"], terminals: ["z"] },
    });
  });

  test("the same pipeline called twice, and calls of calls", () => {
    const others =
      "  - { name: q, on: other, steps: [{ id: a, uses: x }] }\n" +
      "  - { name: r, on: other, steps: [{ id: one, call: q }, { id: two, call: q }] }\n";
    expect(shape("[{ id: c, call: r }]", others)).toEqual({
      nodes: ["c/one/a=x", "c/two/a=x"],
      edges: ["c/one/a>c/two/a"],
      ...{ entries: ["c/one/a"], terminals: ["c/two/a"] },
    });
  });
});

describe("what is not understood is refused (P12):", () => {
  test.each([
    ["[]", "`steps` is not a list with at least one step"],
    ["[{ id: a }]", "needs exactly one of uses, steps, split and call, and has none"],
    ["[{ uses: a, call: b }]", "and has `uses` and `call`"],
    ["[{ uses: a, if: x }]", "`if` is not supported"],
    ["[{ uses: a, from_plugin: x }]", "`from_plugin` is not supported"],
    ["[{ uses: a, bagage: {} }]", "`bagage` is not a key here (did you mean `baggage`?)"],
    ["[{ split: [] }]", "`split` is not a list with at least one step"],
    ["[{ id: a, uses: a }, { id: a, uses: b }]", "two steps have the id `a`"],
    ["[{ id: a, uses: a }, { split: [{ id: a, uses: b }] }]", "two steps have the id `a`"],
    ["[{ call: nowhere }]", "calls `nowhere`, which is not a pipeline"],
    ["[{ call: p }]", "it calls itself: p → p"],
    [
      "[{ uses: a, baggage: { from: payload, namespace: x } }]",
      "the bulk form of `baggage` is not supported",
    ],
    ["[{ uses: a, baggage: { x: other.y } }]", "`baggage.x` is neither payload.PATH nor context.PATH"],
    ["[{ uses: a, baggage: { x: payload } }]", "`baggage.x` is neither"],
    ["[{ uses: a, with: { x: 1 } }]", "`with.x` is not a template"],
    ["[{ steps: [{ uses: a }], baggage: {} }]", "`baggage` is not a key here"],
  ])("%s", (steps, message) => {
    const { problems, pipelines } = compiled(`pipelines: [{ name: p, on: go, steps: ${steps} }]`);
    expect(problems.join("\n")).toContain(message);
    expect(pipelines.size).toBe(0);
  });

  test.each([
    ["{ name: p, on: go, steps: [{ uses: a }], relay: 1 }", "`relay` is not supported"],
    ["{ name: p, on: go, steps: [{ uses: a }], on-hook: x }", "`on-hook` is not supported"],
    ["{ name: p, on: 'a b', steps: [{ uses: a }] }", "`on` is not a type of event"],
    ["{ name: p, steps: [{ uses: a }] }", "`on` is not a type of event"],
    ["{ on: go, steps: [{ uses: a }] }", "a pipeline has no `name`"],
    ["{ name: p, on: go, timeout: soon, steps: [{ uses: a }] }", "`timeout` is not a time"],
    ["{ name: p, on: go, execution_mode: both, steps: [{ uses: a }] }", "`execution_mode` is neither"],
  ])("%s", (pipeline, message) => {
    expect(compiled(`pipelines: [${pipeline}]`).problems.join("\n")).toContain(message);
  });

  test("two pipelines of one name, a cycle of calls, and calls that multiply", () => {
    const { problems } = compiled(`pipelines:
  - { name: p, on: go, steps: [{ uses: a }] }
  - { name: p, on: go, steps: [{ uses: a }] }
  - { name: x, on: go, steps: [{ call: y }] }
  - { name: y, on: go, steps: [{ call: x }] }`);
    expect(problems).toContain("two pipelines have the name `p`");
    expect(problems).toContain("pipeline `x`: it calls itself: x → y → x");
    const bomb = Array.from({ length: 12 }, (_, n) => {
      const inside =
        n === 0
          ? "{ uses: a }"
          : Array(3)
              .fill(`{ call: p${n - 1} }`)
              .join(", ");
      return `  - { name: p${n}, on: go, steps: [${inside}] }`;
    });
    expect(compiled(`pipelines:\n${bomb.join("\n")}`).problems.join("\n")).toContain("more than 1000 steps");
  });
});
