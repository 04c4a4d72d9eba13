// A run at a glance: the shape that `show --json`, the API and the list of runs share.

import { isoTime } from "../base/iso-time.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Limits, Reason, Spent, Status } from "./facts.ts";
import { artifactValue, type Composing, isPerformed, type OpenAsk, type Run, statusOf } from "./run.ts";

export interface Summary {
  readonly run: string;
  readonly status: Status;
  readonly reason: Reason | null;
  /** Somebody holds it: nothing of it leaves until it is let go. Null when nobody does. */
  readonly held: HeldSince | null;
  readonly state: string | null;
  readonly pack: { readonly id: string; readonly version: string; readonly digest: string };
  readonly mode: string;
  readonly output: { readonly text: string; readonly artifacts: JsonObject } | null;
  readonly waiting_for: readonly WaitingFor[];
  readonly visits: Readonly<Record<string, number>>;
  readonly used: SummaryUsed;
  /** What its agents' runs came to, beside that; null where it called none. */
  readonly used_by_agents: Omit<SummaryUsed, "wall_ms"> | null;
  readonly limits: JsonObject;
  readonly turns: number;
  readonly forked_from: { readonly run: string; readonly turn: number } | null;
  readonly parent: { readonly run: string; readonly step: number } | null;
  /** The runs of the agents it called, in order. */
  readonly children: readonly ChildRun[];
  /** In a state that runs a composition: how its steps stand. */
  readonly composition?: CompositionSummary;
  readonly started_at: string;
  readonly updated_at: string;
}

export interface HeldSince {
  /** The run that called it, where it is held with its caller. */
  readonly by: string;
  readonly since: string;
  readonly reason?: string;
}

export interface ChildRun {
  readonly run: string;
  /** The step of the caller that it answers. */
  readonly step: number;
  readonly agent: string;
  /** Where its caller stood. */
  readonly state: string | null;
  readonly visit: number;
}

export interface CompositionSummary {
  readonly name: string;
  /** Those that were come to, in that order. */
  readonly steps: readonly {
    readonly id: string;
    readonly status: "running" | "done" | "failed" | "skipped";
    readonly attempts: number;
  }[];
}

export interface SummaryUsed {
  readonly visits: number;
  readonly tool_calls: number;
  readonly model_calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly wall_ms: number;
}

export interface WaitingFor {
  readonly step: number;
  readonly kind: "event" | "message" | "approval" | "in_doubt" | "answer";
  readonly events?: readonly string[];
  readonly tool?: string;
  readonly args?: Json;
  readonly sha256?: string;
  /** What a person is asked. */
  readonly question?: Json;
  /** The agent's run that waits for somebody. */
  readonly run?: string;
  /** The step of a composition that it belongs to. */
  readonly composition_step?: string;
}

export function summaryOf(id: string, pack: Summary["pack"], run: Run): Summary {
  return {
    run: id,
    status: statusOf(run),
    reason: run.reason,
    held: run.held === undefined ? null : { ...run.held, since: isoTime(run.held.since) },
    state: run.state,
    pack,
    mode: run.mode,
    output: run.final === null ? null : { text: run.lastText, artifacts: artifactsOf(run) },
    waiting_for: waitingFor(id, run),
    visits: run.visits,
    used: usedOf(run),
    used_by_agents: run.usedByAgents === undefined ? null : spentOf(run.usedByAgents),
    limits: limitsOf(run.limits),
    turns: run.turn,
    forked_from: run.forkedFrom,
    parent: run.parent,
    children: childrenOf(id, run),
    ...(run.composing !== undefined && { composition: compositionSummary(run.composing) }),
    started_at: isoTime(run.startedAt),
    updated_at: isoTime(run.now),
  };
}

function compositionSummary({ composition: name, parts }: Composing): CompositionSummary {
  const steps = Object.entries(parts).map(([id, { is, attempt }]) => ({ id, status: is, attempts: attempt }));
  return { name, steps };
}

/** A fork has the children of its origin that had answered before it; the others are its own. */
export const childrenOf = (id: string, { agentCalls }: Run): readonly ChildRun[] =>
  (agentCalls ?? []).map(({ by, ...call }) => ({ run: `${by ?? id}/${call.step}`, ...call }));

export function usedOf(run: Run): SummaryUsed {
  const wallMs = run.wallClock === "active" ? run.used.activeMs : Math.max(0, run.now - run.startedAt);
  return { ...spentOf(run.used), wall_ms: wallMs };
}

const spentOf = (spent: Spent): Omit<SummaryUsed, "wall_ms"> => ({
  visits: spent.visits,
  tool_calls: spent.toolCalls,
  model_calls: spent.modelCalls,
  input_tokens: spent.inputTokens,
  output_tokens: spent.outputTokens,
  cost_usd: spent.costUsd,
});

export function artifactsOf(run: Run): JsonObject {
  return Object.fromEntries(
    Object.entries(run.artifacts).map(([name, artifact]) => [name, artifactValue(artifact)]),
  );
}

function waitingFor(id: string, run: Run): readonly WaitingFor[] {
  const waiting: WaitingFor[] = [];
  for (const [step, open] of Object.entries(run.open)) {
    const one = waitOf(Number(step), open);
    if (one === undefined) continue;
    const part = "part" in open.ask ? open.ask.part : undefined;
    const inPart = part === undefined ? one : { ...one, composition_step: part };
    waiting.push(open.ask.kind === "agent" ? { ...inPart, run: `${id}/${step}` } : inPart);
  }
  return waiting;
}

function waitOf(step: number, open: OpenAsk): WaitingFor | undefined {
  const { ask, hold, later } = open;
  switch (ask.kind) {
    case "event":
      return { step, kind: "event", events: ask.allow };
    case "message":
      return { step, kind: "message" };
    case "approval":
      return { step, kind: "approval", tool: ask.tool, args: ask.args, sha256: ask.sha256 };
    case "tool":
    case "agent":
      if (hold === null || isPerformed(open)) return undefined;
      return {
        step,
        kind: hold === "in_doubt" ? "in_doubt" : "answer",
        tool: ask.tool,
        args: ask.args,
        ...(hold === "deferred" && later?.question !== undefined && { question: later.question }),
      };
    default:
      return undefined;
  }
}

export function limitsOf(limits: Limits): JsonObject {
  const named: readonly (readonly [string, number | null])[] = [
    ["max_total_visits", limits.visits],
    ["max_tool_calls", limits.toolCalls],
    ["max_wall_time_sec", limits.wallMs === null ? null : limits.wallMs / 1000],
    ["max_model_calls", limits.modelCalls],
    ["max_input_tokens", limits.inputTokens],
    ["max_output_tokens", limits.outputTokens],
    ["max_cost_usd", limits.costUsd],
  ];
  return Object.fromEntries(named.filter(([, value]) => value !== null));
}
