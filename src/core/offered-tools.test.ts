import { expect, test } from "vitest";
import { linkPack } from "../pack/link.ts";
import type { PackFile } from "../pack/shape/generated/pack-file.ts";
import { offeredTools, parametersFor } from "./offered-tools.ts";

const prompt = (more: object = {}) => ({
  id: "p",
  name: "P",
  version: "1.0.0",
  system_template: "x",
  ...more,
});

const program = linkPack({
  id: "sample",
  name: "Sample",
  version: "1.0.0",
  template_engine: { version: "v1", syntax: "{{variable}}" },
  prompts: {
    p: prompt({
      tools: ["find", "helper", "a2a__helper", "mail", "drop"],
      tool_policy: { blocklist: ["drop"] },
    }),
    helper: prompt({ description: "Helps." }),
    q: prompt({
      parameters: { temperature: 1, max_tokens: 5 },
      model_overrides: { small: { parameters: { temperature: 0 } } },
    }),
  },
  tools: {
    find: {
      name: "find",
      description: "Finds.",
      parameters: { type: "object", properties: { q: { type: "string" } } },
    },
    drop: { name: "drop", description: "Drops." },
  },
  agents: { entry: "p", members: { helper: {}, p: {} } },
  workflow: {
    version: 2,
    entry: "work",
    states: {
      work: {
        prompt_task: "p",
        on_event: { Done: "end", Ask: "ask" },
        artifacts: { log: { type: "text/plain" }, plan: { type: "text/plain" } },
      },
      ask: { prompt_task: "q", orchestration: "external", on_event: { Answered: "work" } },
      end: { prompt_task: "q", terminal: true },
    },
  },
} as unknown as PackFile);

const names = (prompt: string, state: string | null) =>
  offeredTools(program, { prompt, state }).map(({ name }) => name);

test("a prompt is offered the pack's tools, agents and what the host must bind, but nothing blocked", () => {
  const tools = offeredTools(program, { prompt: "p", state: null });
  expect(tools.map(({ name, kind, description }) => [name, kind, description])).toEqual([
    ["find", "pack", "Finds."],
    ["helper", "agent", "Helps."],
    ["a2a__helper", "agent", "Helps."],
    ["mail", "host", ""],
  ]);
  expect(tools[1]?.parameters).toMatchObject({
    properties: { query: { type: "string" } },
    required: ["query"],
  });
});

test("the transition tool lists the state's events and the artifact tool every artifact (S17)", () => {
  const tools = offeredTools(program, { prompt: "p", state: "work" }).slice(-2);
  expect(tools[0]).toMatchObject({
    name: "workflow__transition",
    kind: "workflow",
    parameters: { properties: { event: { enum: ["Done", "Ask"] } }, required: ["event"] },
  });
  expect(tools[1]).toMatchObject({
    name: "workflow__set_artifact",
    parameters: { properties: { name: { enum: ["log", "plan"] } }, required: ["name", "value"] },
  });
});

test("a terminal state (S8) and an external one (S27) are offered no transition", () => {
  expect(names("q", "end")).toEqual(["workflow__set_artifact"]);
  expect(names("q", "ask")).toEqual(["workflow__set_artifact"]);
});

test("without a state there is nothing reserved", () => {
  expect(names("q", null)).toEqual([]);
});

test("an override changes single parameters", () => {
  const spec = program.prompts["q"];
  expect(spec && parametersFor(spec, "small")).toEqual({ temperature: 0, max_tokens: 5 });
  expect(spec && parametersFor(spec, undefined)).toEqual({ temperature: 1, max_tokens: 5 });
});
