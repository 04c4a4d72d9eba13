// Budgets in full: used, by agents, the limit, what the pack's proof says, how it grew, and state by state.

import type { Summary, SummaryUsed } from "../../../src/core/summary.ts";
import { ask } from "../api.ts";
import { embeddedRun } from "../export/embedded-run.ts";
import type { BudgetView } from "../journal/journal-shapes.ts";
import { count, duration, money, visible } from "../part/format.ts";
import { Failed, Loading } from "../part/notices.tsx";
import { useAsked } from "../part/use-asked.ts";
import { GAUGES, type Gauge, readGauge } from "./budget-gauges.ts";
import type { RunView } from "./use-run.ts";

interface DetailsProps {
  readonly view: RunView;
  readonly summary: Summary;
}

interface Bound {
  readonly terminates: boolean;
  readonly entry?: string;
  readonly visits?: number | null;
  readonly model_calls?: number | null;
  readonly tool_calls?: number | null;
  readonly wall_time_sec?: number | null;
  readonly per_state?: Readonly<Record<string, number | null>>;
}

export function BudgetDetails({ view, summary }: DetailsProps) {
  const turn = view.moment.value?.turn ?? view.turn;
  const course = useAsked<BudgetView>(`${view.feed.run} ${turn}`, () => view.feed.questions.budget(turn));
  const bound = useBound(view, summary);
  return (
    <div className="budget-details">
      {course.error !== undefined && <Failed error={course.error} again={course.again} />}
      <div className="scroll" tabIndex={0} role="region" aria-label="Limits">
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Budget</th>
              <Right names={["Used", "By agents", "Limit", "Proved most"]} />
              <th scope="col">Course</th>
            </tr>
          </thead>
          <tbody>
            {GAUGES.map((gauge) => (
              <GaugeRow key={gauge.name} gauge={gauge} summary={summary} bound={bound} view={course.value} />
            ))}
          </tbody>
        </table>
      </div>
      {course.value === undefined ? (
        <Loading lines={3} label="Counting states" />
      ) : (
        <StateUses value={course.value} bound={bound} />
      )}
    </div>
  );
}

/** The proof holds for runs from the pack's entry, which an agent's run may not begin at. */
function useBound(view: RunView, summary: Summary): Bound | undefined {
  const { digest } = summary.pack;
  const asks = embeddedRun() === undefined && summary.parent === null;
  const { value } = useAsked(asks ? digest : undefined, () =>
    ask<{ readonly bound: Bound }>(`/api/packs/${encodeURIComponent(digest)}`),
  );
  const entry = view.state.visits.get(0)?.to;
  const isOurs = value !== undefined && (entry === undefined || value.bound.entry === entry);
  return isOurs ? value.bound : undefined;
}

const Right = ({ names }: { readonly names: readonly string[] }) =>
  names.map((name) => (
    <th key={name} scope="col" className="right">
      {name}
    </th>
  ));

interface GaugeRowProps {
  readonly gauge: Gauge;
  readonly summary: Summary;
  readonly bound: Bound | undefined;
  readonly view: BudgetView | undefined;
}

function GaugeRow({ gauge, summary, bound, view }: GaugeRowProps) {
  const { own, agents, limit, isEnd } = readGauge(gauge, summary);
  const most = gauge.bound === undefined ? undefined : bound?.[gauge.bound];
  return (
    <tr className={isEnd ? "ended" : undefined}>
      <th scope="row">
        {gauge.name} {isEnd && <span className="chip spent">ended the run</span>}
      </th>
      <td className="right numbers">{gauge.show(own)}</td>
      <td className="right numbers">{agents === 0 ? "—" : gauge.show(agents)}</td>
      <td className="right numbers">{limit === undefined ? "—" : gauge.show(limit)}</td>
      <td className="right numbers">
        {typeof most === "number"
          ? gauge.show(most * (gauge.bound === "wall_time_sec" ? gauge.per : 1))
          : "—"}
      </td>
      <td>
        <Sparkline values={(view?.course ?? []).map((used) => used[gauge.used])} />
      </td>
    </tr>
  );
}

const WIDE = 120;
const HIGH = 20;

/** Decoration: the numbers stand beside it. */
function Sparkline({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(...values, 0);
  if (values.length < 2 || most <= 0) return null;
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * WIDE;
    return `${x.toFixed(1)},${(HIGH - (Math.max(0, value) / most) * (HIGH - 2) - 1).toFixed(1)}`;
  });
  return (
    <svg className="sparkline" width={WIDE} height={HIGH} viewBox={`0 0 ${WIDE} ${HIGH}`} aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}

const COLUMNS: readonly { readonly name: string; readonly of: (used: SummaryUsed) => string }[] = [
  { name: "Model calls", of: (used) => count(used.model_calls) },
  { name: "Tool calls", of: (used) => count(used.tool_calls) },
  { name: "Tokens", of: (used) => count(used.input_tokens + used.output_tokens) },
  { name: "Cost", of: (used) => money(used.cost_usd) },
  { name: "Time", of: (used) => duration(used.wall_ms) },
];

interface StateUsesProps {
  readonly value: BudgetView;
  readonly bound: Bound | undefined;
}

function StateUses({ value, bound }: StateUsesProps) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Use by state">
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">State</th>
            <Right names={["Visits", "Proved most", ...COLUMNS.map(({ name }) => name)]} />
          </tr>
        </thead>
        <tbody>
          {value.states.map(({ state, used }) => (
            <tr key={state}>
              <th scope="row">{visible(state)}</th>
              <td className="right numbers">{count(used.visits)}</td>
              <td className="right numbers">{mostOf(bound, state)}</td>
              {COLUMNS.map(({ name, of }) => (
                <td key={name} className="right numbers">
                  {of(used)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function mostOf(bound: Bound | undefined, state: string): string {
  const most =
    bound?.per_state !== undefined && Object.hasOwn(bound.per_state, state) ? bound.per_state[state] : null;
  return typeof most === "number" ? count(most) : "—";
}
