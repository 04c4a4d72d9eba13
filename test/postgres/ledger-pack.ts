// A pack whose model and tools are kept by a ledger: it looks, pays twice, and ends.

import type { Json } from "../../src/base/json.ts";
import { TRANSITION } from "../../src/core/reserved.ts";

export const ledgerPack = `id: ledger
name: Ledger
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Pay., tools: [look, pay] }
tools:
  look: { name: look, description: Looks., parameters: { type: object, properties: {} } }
  pay: { name: pay, description: Pays., parameters: { type: object, properties: {} } }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 9, max_tool_calls: 9, max_wall_time_sec: 600 } }
  states:
    work: { prompt_task: p, on_event: { Done: end } }
    end: { prompt_task: p, terminal: true }
`;

export interface LedgerCall {
  readonly pid: number;
  readonly run: string;
  readonly name: string;
  readonly key: string;
  readonly step: number;
  readonly state: string;
  readonly nth: number;
  readonly args: Json;
}

/** Calls that each run makes when nobody disturbs it. */
export const CALLS_PER_RUN = 7;

const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

export function answerTo({ name, step, state, nth, args }: LedgerCall): Json {
  if (name !== "model") return { done: args };
  const pay = (amount: number) => ({ id: `${step}.${amount}`, tool: "pay", args: { amount } });
  const rounds = [
    [{ id: `${step}.0`, tool: "look", args: {} }, pay(1)],
    [pay(2)],
    [{ id: `${step}.0`, tool: TRANSITION, args: { event: "Done" } }],
  ];
  const calls = state === "work" ? (rounds[nth] ?? []) : [];
  return { text: calls.length === 0 ? "Paid." : "", calls, usage };
}
