// What a fork would do, before it is made, and answers to models as people write them.

import { type Response, readScript } from "../adapter/script/read-script.ts";
import { replyOf } from "../adapter/script/scripted.ts";
import type { Json } from "../base/json.ts";
import type { Outcome } from "../core/facts.ts";
import { promptNameOf } from "../core/part-site.ts";
import type { Program } from "../core/program.ts";
import type { Run } from "../core/run.ts";
import { summaryOf, type WaitingFor } from "../core/summary.ts";
import type { ForkPlan } from "../engine/fork.ts";
import type { CallRisk } from "./call-risk.ts";

export interface PlannedCall {
  readonly step: number;
  readonly kind: "model" | "tool" | "agent";
  readonly state: string | null;
  readonly prompt: string;
  readonly tool?: string;
  readonly args?: Json;
  readonly risk?: CallRisk;
}

export interface ForkView {
  readonly dry_run: true;
  readonly from: { readonly run: string; readonly turn: number };
  readonly state: string | null;
  readonly calls: readonly PlannedCall[];
  readonly waiting_for: readonly WaitingFor[];
  /** Tools that the origin called after the cut: what follows the first calls is likely to be that. */
  readonly origin_called: readonly CalledTool[];
}

export interface CalledTool {
  readonly tool: string;
  readonly calls: number;
  readonly risk: CallRisk;
}

export interface ForkOrigin {
  readonly run: string;
  readonly turn: number;
  /** Calls of each tool, at the cut and at the end. */
  readonly calls: { readonly cut: Run["callsByTool"]; readonly end: Run["callsByTool"] };
  /** What a call can do in the world of the fork. */
  readonly riskOf: (program: Program, tool: string) => CallRisk;
}

export function forkView(
  id: string,
  { run: origin, turn, calls, riskOf }: ForkOrigin,
  { run, program }: Extract<ForkPlan, { kind: "planned" }>,
): ForkView {
  const risk = (tool: string): CallRisk => riskOf(program, tool);
  const called = Object.entries(calls.end).flatMap(([tool, count]): readonly CalledTool[] => {
    const before = Object.hasOwn(calls.cut, tool) ? (calls.cut[tool] ?? 0) : 0;
    return count > before ? [{ tool, calls: count - before, risk: risk(tool) }] : [];
  });
  const pack = { id: program.id, version: program.version, digest: run.digest };
  const { waiting_for } = summaryOf(id, pack, run);
  return {
    dry_run: true,
    from: { run: origin, turn },
    state: run.state,
    calls: callsOf(run, risk),
    waiting_for,
    origin_called: called,
  };
}

/** The first calls; what follows depends on their answers. */
function callsOf(run: Run, risk: (tool: string) => CallRisk): readonly PlannedCall[] {
  return Object.entries(run.open).flatMap(([step, { ask, hold }]): readonly PlannedCall[] => {
    if (hold !== null) return [];
    const prompt = promptNameOf(run, "part" in ask ? ask.part : undefined);
    const place = { step: Number(step), state: run.state, prompt };
    if (ask.kind === "model") return [{ ...place, kind: ask.kind }];
    if (ask.kind !== "tool" && ask.kind !== "agent") return [];
    return [{ ...place, kind: ask.kind, tool: ask.tool, args: ask.args, risk: risk(ask.tool) }];
  });
}

export type ForkAnswer =
  | { readonly ok: true; readonly step: number; readonly outcome: Outcome }
  | { readonly ok: false; readonly message: string };

/** A model's answer is written as in a script: a text, or an entry with text, calls, artifacts, event. */
export function forkAnswer(run: Run, step: number, value: Json): ForkAnswer {
  if (run.open[step]?.ask.kind !== "model") return { ok: true, step, outcome: { ok: true, value } };
  const entry = typeof value === "string" ? { text: value } : value;
  const [problem] = readScript({ states: { answer: [entry] } }).problems;
  if (problem !== undefined)
    return { ok: false, message: `the answer to step ${step} is not one of a model: ${problem.message}` };
  const reply = replyOf(entry as unknown as Response, step) as unknown as Json;
  return { ok: true, step, outcome: { ok: true, value: reply } };
}
