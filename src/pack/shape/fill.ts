// What stands in for a required value that is missing or unusable, so that the later phases can go on with
// the rest of the pack. Every place filled in is marked as broken; no rule may judge it.

import type { Json, JsonObject } from "../../base/json.ts";

/** A fixed value, or one made from the key of the object and what it holds so far. */
type Filler = Json | ((key: string | number, held: JsonObject) => Json);

const key: Filler = (name) => String(name);
const engine = { version: "v1", syntax: "{{variable}}" };
const step = { id: "" };

/** By definition and property. An object that lacks a required property not listed here is dropped. */
const fillers: Readonly<Record<string, Readonly<Record<string, Filler>>>> = {
  PackFile: {
    id: "pack",
    name: (_, held) => held.id ?? "pack",
    version: "0.0.0",
    template_engine: engine,
    prompts: {},
  },
  TemplateEngine: engine,
  Prompt: { id: key, name: key, version: "0.0.0", system_template: "" },
  Variable: { type: "string", required: false },
  Tool: { name: key, description: "" },
  ToolParameters: { type: "object", properties: {} },
  Pipeline: { stages: [] },
  MediaConfig: { enabled: true },
  Eval: { trigger: "every_turn" },
  Workflow: { version: 1, entry: "", states: {} },
  Artifact: { type: "text/plain" },
  Agents: { entry: "", members: {} },
  InlineSkill: { description: "", instructions: "" },
  Composition: { version: 1, steps: [] },
  PromptStep: { ...step, prompt_task: "" },
  AgentStep: { ...step, prompt_task: "", termination: {} },
  ToolStep: { ...step, tool: "" },
  // oxlint-disable-next-line unicorn/no-thenable -- the specification's name for a branch; never awaited
  BranchStep: { ...step, predicate: { all_of: [] }, then: "" },
  ParallelStep: { ...step, branches: [], reduce: { strategy: "barrier", into: "" } },
  VendorStep: step,
  Reducer: { strategy: "barrier", into: "" },
  ProviderRequest: { role: "llm" },
};

/** The neutral value of a required property, or `undefined` when its object cannot do without. */
export function fillingOf(
  place: { readonly shape: string | undefined; readonly property: string },
  name: string | number,
  held: JsonObject,
): Json | undefined {
  const filler = fillers[place.shape ?? ""]?.[place.property];
  return typeof filler === "function" ? filler(name, held) : filler;
}
