// The pack that tests of telemetry share: a loop with a guard, a tool, a person, an agent with a loop of its
// own, and an end.

import type { Program } from "../../src/core/program.ts";
import { openPack } from "../../src/pack/pack.ts";

export const text = `id: looping
name: Looping
version: 2.1.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  work:
    id: work
    name: Worker
    version: 1.4.0
    system_template: "Do {{task}}."
    tools: [look, auditor]
    parameters: { temperature: 0.2, max_tokens: 500 }
    variables: [{ name: task, type: string, required: true }]
  close: { id: close, name: Closer, version: 1.0.0, system_template: Close it. }
  auditor: { id: auditor, name: Auditor, version: 1.0.0, system_template: Audit. }
tools:
  look:
    name: look
    description: Looks.
    parameters: { type: object, properties: { where: { type: string } } }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 2000, max_tool_calls: 3 } }
  states:
    work:
      prompt_task: work
      on_event: { Again: work, Bounded: bounded, Ask: gate, Done: end }
    bounded: { prompt_task: work, max_visits: 1, on_max_visits: end, on_event: { Again: bounded } }
    gate: { prompt_task: close, orchestration: external, on_event: { Yes: end, No: work } }
    end: { prompt_task: close, terminal: true }
    inspect: { prompt_task: auditor, on_event: { Found: verdict, Wait: doubt } }
    doubt: { prompt_task: auditor, orchestration: external, on_event: { Sure: verdict } }
    verdict: { prompt_task: auditor, terminal: true }
agents:
  entry: work
  members:
    work: { description: Works }
    auditor: { description: Audits, state: inspect }
`;

export function looping(): Program {
  const pack = openPack(text, { file: "looping.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  return pack.program;
}

export const ends = { end: [{ text: "Goodbye." }], verdict: [{ text: "It is real." }] };
export const task = { variables: { task: "tides" } };
