// What the run has used of what it may, at the turn that is looked at.

import type { Json } from "../../../src/base/json.ts";
import type { Summary, SummaryUsed } from "../../../src/core/summary.ts";
import { count, duration, money } from "../part/format.ts";
import type { RunView } from "./use-run.ts";

interface Gauge {
  readonly name: string;
  readonly used: keyof SummaryUsed;
  readonly limit: string;
  readonly show: (value: number) => string;
  /** From what is used to what the limit counts in. */
  readonly per?: number;
}

const GAUGES: readonly Gauge[] = [
  { name: "visits", used: "visits", limit: "max_total_visits", show: count },
  { name: "tool calls", used: "tool_calls", limit: "max_tool_calls", show: count },
  { name: "model calls", used: "model_calls", limit: "max_model_calls", show: count },
  { name: "time", used: "wall_ms", limit: "max_wall_time_sec", show: duration, per: 1_000 },
  { name: "tokens in", used: "input_tokens", limit: "max_input_tokens", show: count },
  { name: "tokens out", used: "output_tokens", limit: "max_output_tokens", show: count },
  { name: "cost", used: "cost_usd", limit: "max_cost_usd", show: money },
];

export function BudgetStrip({ view, summary }: { readonly view: RunView; readonly summary: Summary }) {
  const { used, limits, reason, used_by_agents: agents } = view.moment.value?.summary ?? summary;
  return (
    <dl className="budgets" aria-label="Budgets">
      {GAUGES.map((gauge) => {
        const own = used[gauge.used];
        const beside = gauge.used === "wall_ms" ? 0 : (agents?.[gauge.used] ?? 0);
        const limit = numberOr(limits[gauge.limit]) * (gauge.per ?? 1);
        const share = limit > 0 ? Math.min(1, (own + beside) / limit) : Number.isNaN(limit) ? undefined : 1;
        const isEnd = reason?.limit === gauge.limit;
        return (
          <div
            key={gauge.name}
            className={
              isEnd ? "budget ended" : share !== undefined && share >= 0.8 ? "budget near" : "budget"
            }
          >
            <dt>{gauge.name}</dt>
            <dd className="numbers">
              {gauge.show(own + beside)}
              {!Number.isNaN(limit) && <span className="faint"> / {gauge.show(limit)}</span>}
              {isEnd && <span className="unseen"> ended the run</span>}
            </dd>
            <span className="meter" aria-hidden="true">
              {share !== undefined && <span ref={(element) => widen(element, share)} />}
            </span>
          </div>
        );
      })}
    </dl>
  );
}

const widen = (element: HTMLElement | null, share: number): void => {
  if (element !== null) element.style.width = `${(share * 100).toFixed(1)}%`;
};

const numberOr = (value: Json | undefined): number => (typeof value === "number" ? value : Number.NaN);
