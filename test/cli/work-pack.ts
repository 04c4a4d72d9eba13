// The pack and script that tests of running commands share.

const head = 'id: s\nname: S\nversion: 1.0.0\ntemplate_engine: { version: v1, syntax: "{{variable}}" }\n';
/** A loop with a tool, a gate for a person, and an end. */
export const pack = `${head}prompts:
  p:
    id: p
    name: P
    version: 1.0.0
    system_template: "Do {{task}} {{times}} times."
    tools: [look]
    variables:
      - { name: task, type: string, required: true }
      - { name: times, type: number, required: false, default: 1, validation: { minimum: 1, maximum: 9 } }
  q: { id: q, name: Q, version: 1.0.0, system_template: Close. }
tools:
  look: { name: look, description: Looks., parameters: { type: object, properties: {} } }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 10, max_tool_calls: 5, max_wall_time_sec: 600 } }
  states:
    work:
      prompt_task: p
      artifacts: { note: { type: text/plain } }
      on_event: { Again: work, Ask: gate, Done: end }
    gate: { prompt_task: q, orchestration: external, on_event: { Yes: end, No: work } }
    end: { prompt_task: q, terminal: true }
`;
const script = `states:
  work:
    - { calls: [{ tool: look }], usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.01 } }
    - { artifacts: { note: seen }, event: Done, context: all is well }
  end: [{ text: Goodbye. }]
tools:
  look: [{ ok: { light: on } }]
`;
export const files = { "pack.yaml": pack, "script.yaml": script };
export const start = ["run", "pack.yaml", "--script", "script.yaml", "--var", "task=it"];
/** A script in which every call in the state `work` is answered like this. */
export const states = (work: string) => `states:\n  work: [${work}]\n  end: [{ text: Bye. }]\n`;
