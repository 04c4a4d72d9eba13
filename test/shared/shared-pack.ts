// A pack for several drivers: it pays, asks something that only somebody outside answers, waits for an event,
// and ends.

import type { ModelReply } from "../../src/core/facts.ts";
import { TRANSITION } from "../../src/core/reserved.ts";

export const sharedPack = `id: shared
name: Shared
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Pay., tools: [look, pay, endless] }
tools:
  look: { name: look, description: Looks., parameters: { type: object, properties: {} } }
  pay: { name: pay, description: Pays., parameters: { type: object, properties: {} } }
  endless: { name: endless, description: Never ends., parameters: { type: object, properties: {} } }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 9, max_tool_calls: 9 } }
  states:
    work: { prompt_task: p, on_event: { Done: gate } }
    gate: { prompt_task: p, orchestration: external, on_event: { Go: rest } }
    rest: { prompt_task: p, on_event: { Done: end } }
    end: { prompt_task: p, terminal: true }
`;

const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

export function replyOf({ state, nth, step }: { state: string; nth: number; step: number }): ModelReply {
  const call = (tool: string, args = {}) => ({ id: `${step}.${tool}`, tool, args });
  const done = [call(TRANSITION, { event: "Done" })];
  const rounds = state === "work" ? [[call("look"), call("pay")], [call("endless")], done] : [done];
  const calls = state === "end" ? [] : (rounds[nth] ?? []);
  return { text: calls.length === 0 ? "Over." : "", calls, usage };
}
