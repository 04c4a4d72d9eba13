import { expect, test } from "vitest";
import { linkPack } from "../pack/link.ts";
import type { PackFile } from "../pack/shape/generated/pack-file.ts";
import { reachablePrompts } from "./reachable-prompts.ts";

const prompt = { id: "p", name: "P", version: "1.0.0", system_template: "x" };

const program = linkPack({
  id: "sample",
  name: "Sample",
  version: "1.0.0",
  template_engine: { version: "v1", syntax: "{{variable}}" },
  prompts: { first: prompt, second: prompt, stop: prompt, inner: prompt, lost: prompt, agent: prompt },
  workflow: {
    version: 2,
    entry: "a",
    states: {
      a: { prompt_task: "first", max_visits: 2, on_max_visits: "end", on_event: { Go: "b", Back: "a" } },
      b: { orchestration: "composition", composition: "steps", on_event: { Go: "c" } },
      c: { prompt_task: "second", on_event: { Go: "a" } },
      end: { prompt_task: "stop", terminal: true },
      island: { prompt_task: "lost", terminal: true },
    },
  },
  compositions: {
    steps: {
      version: 1,
      steps: [
        { id: "s", kind: "parallel", branches: [{ id: "t", kind: "prompt", prompt_task: "inner" }] },
        { id: "u", kind: "tool", tool: "x" },
      ],
    },
  },
  agents: { entry: "agent", members: { agent: {} } },
} as unknown as PackFile);

test("events, redirects and the steps of compositions lead to prompts", () => {
  expect(reachablePrompts(program, { kind: "state", name: "a" })).toEqual([
    "first",
    "inner",
    "stop",
    "second",
  ]);
});

test("a run that begins elsewhere comes to other prompts", () => {
  expect(reachablePrompts(program, { kind: "state", name: "island" })).toEqual(["lost"]);
  expect(reachablePrompts(program, { kind: "prompt", name: "agent" })).toEqual(["agent"]);
});
