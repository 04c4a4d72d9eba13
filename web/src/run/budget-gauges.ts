// What a run can use up, by the names of its summary and of its limits.

import type { Json } from "../../../src/base/json.ts";
import type { Summary, SummaryUsed } from "../../../src/core/summary.ts";
import { count, duration, money } from "../part/format.ts";

export interface Gauge {
  readonly name: string;
  readonly used: keyof SummaryUsed;
  readonly limit: string;
  /** The figure of the pack's proof, where it has one. */
  readonly bound?: "visits" | "model_calls" | "tool_calls" | "wall_time_sec";
  readonly show: (value: number) => string;
  /** From what is used to what limit and bound count in. */
  readonly per: number;
}

export const GAUGES: readonly Gauge[] = [
  { name: "visits", used: "visits", limit: "max_total_visits", bound: "visits", show: count, per: 1 },
  {
    name: "tool calls",
    used: "tool_calls",
    limit: "max_tool_calls",
    bound: "tool_calls",
    show: count,
    per: 1,
  },
  {
    name: "model calls",
    used: "model_calls",
    limit: "max_model_calls",
    bound: "model_calls",
    show: count,
    per: 1,
  },
  {
    name: "time",
    used: "wall_ms",
    limit: "max_wall_time_sec",
    bound: "wall_time_sec",
    show: duration,
    per: 1_000,
  },
  { name: "tokens in", used: "input_tokens", limit: "max_input_tokens", show: count, per: 1 },
  { name: "tokens out", used: "output_tokens", limit: "max_output_tokens", show: count, per: 1 },
  { name: "cost", used: "cost_usd", limit: "max_cost_usd", show: money, per: 1 },
];

export interface GaugeReading {
  readonly own: number;
  readonly agents: number;
  /** Undefined where nothing limits it. */
  readonly limit: number | undefined;
  /** Of the limit, from 0 to 1. */
  readonly share: number | undefined;
  readonly isEnd: boolean;
}

/** Limits hold for a run and its agents together, save that of time. */
export function readGauge(
  gauge: Gauge,
  { used, limits, reason, used_by_agents: beside }: Summary,
): GaugeReading {
  const own = used[gauge.used];
  const agents = gauge.used === "wall_ms" ? 0 : (beside?.[gauge.used] ?? 0);
  const given = numberOf(limits[gauge.limit]);
  const limit = given === undefined ? undefined : given * gauge.per;
  const share = limit === undefined ? undefined : limit > 0 ? Math.min(1, (own + agents) / limit) : 1;
  return { own, agents, limit, share, isEnd: reason?.limit === gauge.limit };
}

const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" ? value : undefined;
