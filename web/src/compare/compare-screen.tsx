// Two runs side by side: visits aligned by state and visit, and where they first part.

import { useMemo } from "react";
import type { Json } from "../../../src/base/json.ts";
import { oneLineOf } from "../../../src/core/one-line.ts";
import type { TraceRow } from "../../../src/core/trace.ts";
import type { RunDiff } from "../../../src/host/run-diff.ts";
import { ask, runPath } from "../api.ts";
import { textOf } from "../journal/cut-text.ts";
import { valueDiff } from "../journal/value-diff.ts";
import { DiffView } from "../part/diff-view.tsx";
import { count, duration, money, visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { Empty, Failed, Loading } from "../part/notices.tsx";
import { StatusChip } from "../part/status-chip.tsx";
import { useAsked } from "../part/use-asked.ts";
import { goWith, runHref, usePlace } from "../route.ts";
import { traceRows } from "../run/trace-rows.ts";
import { AlignedTable } from "./aligned-table.tsx";
import { alignedVisits } from "./aligned-visits.ts";

interface CompareProps {
  readonly a: string;
  readonly b: string;
}

interface Compared {
  readonly diff: RunDiff;
  readonly left: readonly TraceRow[];
  readonly right: readonly TraceRow[];
}

type Ways = Pick<Compared, "left" | "right">;

/** Where they part is said first: of long runs all visits come a while later. */
export function CompareScreen({ a, b }: CompareProps) {
  const key = `${a} ${b}`;
  const { value, error, again } = useAsked<RunDiff>(key, () =>
    ask(`${runPath(a)}/diff/${encodeURIComponent(b)}`),
  );
  const isKnown = value?.a.run === a && value.b.run === b;
  const ways = useAsked<Ways>(isKnown ? key : undefined, async () => {
    const [left, right] = await Promise.all([traceRows(a, "short"), traceRows(b, "short")]);
    return { left, right };
  });
  return (
    <div className="screen">
      <div className="screen-head">
        <h1>Compare</h1>
      </div>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading lines={8} label="Comparing" />}
      {value !== undefined && error === undefined && (
        <>
          <Totals diff={value} />
          {value.same ? (
            <Empty title="The two runs are the same" />
          ) : (
            <Divergence diff={value} ways={ways.isLoading ? undefined : ways.value} />
          )}
          <Change diff={value} />
          {ways.error !== undefined && <Failed error={ways.error} again={ways.again} />}
          {ways.error === undefined &&
            (ways.value === undefined || ways.isLoading ? (
              <Loading lines={8} label="Loading the visits" />
            ) : (
              <Visits diff={value} {...ways.value} />
            ))}
        </>
      )}
    </div>
  );
}

function Visits({ diff, left, right }: Compared) {
  const rows = useMemo(() => alignedVisits(left, right, diff), [left, right, diff]);
  return <AlignedTable rows={rows} diff={diff} />;
}

const TOTALS: readonly {
  readonly name: string;
  readonly of: (end: RunDiff["a"]) => number;
  readonly show: (value: number) => string;
}[] = [
  { name: "turns", of: ({ turn }) => turn, show: count },
  { name: "visits", of: ({ used }) => used.visits, show: count },
  { name: "model calls", of: ({ used }) => used.model_calls, show: count },
  { name: "tool calls", of: ({ used }) => used.tool_calls, show: count },
  { name: "tokens", of: ({ used }) => used.input_tokens + used.output_tokens, show: count },
  { name: "cost", of: ({ used }) => used.cost_usd, show: money },
  { name: "time", of: ({ used }) => used.wall_ms, show: duration },
];

function Totals({ diff }: { readonly diff: RunDiff }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Totals">
      <table className="plain totals">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            {TOTALS.map(({ name }) => (
              <th key={name} scope="col" className="right">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(["a", "b"] as const).map((side) => (
            <tr key={side}>
              <th scope="row">
                <Link to={runHref(diff[side].run)} className="mono">
                  {diff[side].run}
                </Link>
              </th>
              <td>
                <StatusChip status={diff.status[side] as "completed"} />
              </td>
              {TOTALS.map(({ name, of, show }) => (
                <td key={name} className="right numbers">
                  {show(of(diff[side]))}
                </td>
              ))}
            </tr>
          ))}
          <tr>
            <th scope="row">Difference</th>
            <td />
            {TOTALS.map(({ name, of, show }) => (
              <td key={name} className="right numbers">
                {signed(of(diff.b) - of(diff.a), show)}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

function signed(difference: number, show: (value: number) => string): string {
  if (difference === 0) return "=";
  return `${difference < 0 ? "−" : "+"}${show(Math.abs(difference))}`;
}

interface DivergenceProps {
  readonly diff: RunDiff;
  readonly ways: Ways | undefined;
}

function Divergence({ diff, ways }: DivergenceProps) {
  const first = diff.first_divergence;
  if (first === null) return <p className="lead">The way is the same; only how they ended differs.</p>;
  const change = diff.changes[0];
  return (
    <section className="card divergence">
      <h2>
        They part in {visible(first.state)} ({first.visit}): <code>{visible(first.field)}</code>
      </h2>
      {change !== undefined && (
        <dl className="sides">
          <div>
            <dt>{diff.a.run}</dt>
            <dd>{visible(oneLineOf(change.a, 300))}</dd>
          </div>
          <div>
            <dt>{diff.b.run}</dt>
            <dd>{visible(oneLineOf(change.b, 300))}</dd>
          </div>
        </dl>
      )}
      {ways !== undefined && <ForkBefore diff={diff} {...ways} />}
    </section>
  );
}

/** Fields that a visit has because of how it was entered; the others come about in it. */
const ENTERED: ReadonlySet<string> = new Set(["visit", "from", "redirected_from"]);

/** In the first run, or in the second where only that one made the visit. */
function ForkBefore({ diff, left, right }: Compared) {
  const first = diff.first_divergence;
  const find = (rows: readonly TraceRow[]) =>
    rows.find(({ to, visit }) => to === first?.state && visit === first.visit);
  const [mine, other] = [find(left), find(right)];
  const row = mine ?? other;
  if (first === null || row === undefined) return null;
  const { run } = mine === undefined ? diff.b : diff.a;
  const turn = ENTERED.has(first.field) ? row.turn - 1 : row.turn;
  if (turn < 1) return null;
  return (
    <p>
      <Link to={runHref(run, { turn, dialog: "fork" })} className="button">
        Fork from the turn before
      </Link>{" "}
      <Link to={runHref(run, { turn })}>
        See turn {count(turn)} of {run}
      </Link>
    </p>
  );
}

/** The one change that the address names, in full. */
function Change({ diff }: { readonly diff: RunDiff }) {
  const { query } = usePlace();
  const index = Number(query.get("change") ?? "");
  const change = query.get("change") === null ? undefined : diff.changes[index];
  if (change === undefined) return null;
  return (
    <section className="card" aria-label="The change">
      <header className="artifact-head">
        <h2>
          {visible(change.state)} ({change.visit}) <code>{visible(change.field)}</code>
        </h2>
        <span className="grow" />
        <button type="button" className="button quiet" onClick={() => goWith({ change: undefined })}>
          Close
        </button>
      </header>
      <DiffView diff={valueDiff(plain(change.a), plain(change.b))} />
    </section>
  );
}

const plain = (value: Json): Json =>
  value === null ? "" : typeof value === "string" ? value : textOf(value);
