// The pack that tests of the server share: a loop with a tool, a gate for a person, and an end.

import type { JsonObject } from "../../src/base/json.ts";

export const pack = `id: served
name: Served
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  work:
    id: work
    name: Work
    version: 1.0.0
    system_template: "Do {{task}}."
    tools: [look]
    variables: [{ name: task, type: string, required: true }]
  close: { id: close, name: Close, version: 1.0.0, system_template: "Close {{artifacts.note}}." }
tools:
  look:
    name: look
    description: Looks.
    parameters: { type: object, properties: { where: { type: string } }, required: [where] }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 20, max_tool_calls: 9, max_wall_time_sec: 600 } }
  states:
    work:
      prompt_task: work
      artifacts: { note: { type: text/plain }, data: { type: application/json } }
      on_event: { Again: work, Ask: gate, Done: end }
    gate: { prompt_task: close, orchestration: external, on_event: { Yes: end, No: work } }
    end: { prompt_task: close, terminal: true }
`;

const end = [{ text: "Goodbye." }];
const look = [{ ok: { light: "on" } }];

/** Looks, writes a note, and asks a person. */
export const asks: JsonObject = {
  states: {
    work: [
      { calls: [{ tool: "look", args: { where: "here" } }] },
      { artifacts: { note: "seen" }, event: "Ask", context: "please" },
    ],
    gate: [{ text: "Well?" }],
    end,
  },
  tools: { look },
};

/** Goes round once and ends by itself. */
export const ends: JsonObject = {
  states: {
    work: [
      { artifacts: { note: "one" }, event: "Again" },
      { artifacts: { note: "two" }, event: "Done" },
    ],
    end,
  },
};

export const start = (script: JsonObject, more: JsonObject = {}): JsonObject => ({
  pack,
  variables: { task: "it" },
  script,
  ...more,
});
