import { describe, expect, test } from "vitest";
import { linkPack } from "../link.ts";
import type { PackFile } from "../shape/generated/pack-file.ts";
import { graphOf } from "./model.ts";

const prompt = (more: object = {}) => ({
  id: "p",
  name: "P",
  version: "1.0.0",
  system_template: "x",
  ...more,
});

function graphOfPack(parts: object) {
  const base = {
    id: "sample",
    name: "Sample",
    version: "1.0.0",
    template_engine: { syntax: "{{variable}}" },
  };
  return graphOf(linkPack({ ...base, prompts: { p: prompt() }, ...parts } as unknown as PackFile));
}

const loop = {
  workflow: {
    version: 2,
    entry: "work",
    states: {
      work: {
        prompt_task: "p",
        max_visits: 3,
        on_max_visits: "ask",
        on_event: { Done: "end", Again: "work", Skipped: "end" },
      },
      ask: { prompt_task: "p", orchestration: "external", on_event: { Answered: "work" } },
      end: { prompt_task: "p", terminal: true },
    },
  },
};

describe("a pack with a workflow", () => {
  test("is drawn as its states with their flags", () => {
    const { kind, nodes } = graphOfPack(loop);
    expect(kind).toBe("workflow");
    expect(
      nodes.map(({ name, entry, terminal, external, guarded, maxVisits, prompt }) => {
        return { name, entry, terminal, external, guarded, maxVisits, prompt };
      }),
    ).toEqual([
      {
        name: "work",
        entry: true,
        terminal: false,
        external: false,
        guarded: true,
        maxVisits: 3,
        prompt: "p",
      },
      {
        name: "ask",
        entry: false,
        terminal: false,
        external: true,
        guarded: false,
        maxVisits: null,
        prompt: "p",
      },
      {
        name: "end",
        entry: false,
        terminal: true,
        external: false,
        guarded: false,
        maxVisits: null,
        prompt: "p",
      },
    ]);
  });

  test("has one edge for all events with the same target, and one for a redirect", () => {
    expect(graphOfPack(loop).edges).toEqual([
      { from: 0, to: 2, kind: "event", labels: ["Done", "Skipped"] },
      { from: 0, to: 0, kind: "event", labels: ["Again"] },
      { from: 0, to: 1, kind: "redirect", labels: ["after 3 visits"] },
      { from: 1, to: 0, kind: "event", labels: ["Answered"] },
    ]);
  });

  test("shows agents that begin at a state of their own", () => {
    const { nodes } = graphOfPack({ ...loop, agents: { entry: "p", members: { p: { state: "ask" } } } });
    expect(nodes.map((node) => node.agents)).toEqual([[], ["p"], []]);
  });

  test("leaves out an edge to a state that does not exist", () => {
    const states = { a: { prompt_task: "p", on_event: { Go: "nowhere" } } };
    expect(graphOfPack({ workflow: { version: 1, entry: "a", states } }).edges).toEqual([]);
  });

  test("may call a state `__proto__`", () => {
    const states = JSON.parse(
      '{ "__proto__": { "prompt_task": "p", "on_event": { "constructor": "toString" } }, "toString": {} }',
    ) as object;
    const graph = graphOfPack({ workflow: { version: 1, entry: "__proto__", states } });
    expect(graph.nodes.map((node) => node.name)).toEqual(["__proto__", "toString"]);
    expect(graph.edges).toEqual([{ from: 0, to: 1, kind: "event", labels: ["constructor"] }]);
  });
});

describe("a pack without a workflow", () => {
  test("is drawn as its prompts and the calls between agents", () => {
    const graph = graphOfPack({
      prompts: {
        chief: prompt({ tools: ["writer", "a2a__reader", "search"] }),
        writer: prompt(),
        reader: prompt(),
      },
      agents: { entry: "chief", members: { chief: {}, writer: {}, reader: {} } },
    });
    expect(graph.kind).toBe("prompts");
    expect(graph.nodes.map(({ name, entry }) => [name, entry])).toEqual([
      ["chief", true],
      ["writer", false],
      ["reader", false],
    ]);
    expect(graph.edges).toEqual([
      { from: 0, to: 1, kind: "call", labels: ["calls"] },
      { from: 0, to: 2, kind: "call", labels: ["calls"] },
    ]);
  });

  test("begins at its only prompt", () => {
    expect(graphOfPack({}).nodes[0]?.entry).toBe(true);
  });
});
