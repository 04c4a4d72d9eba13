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

const tracePath = (run: string): string => `${runPath(run)}/trace?values=short&limit=10000`;

export function CompareScreen({ a, b }: CompareProps) {
  const { value, error, again } = useAsked<Compared>(`${a} ${b}`, async () => {
    const [diff, left, right] = await Promise.all([
      ask<RunDiff>(`${runPath(a)}/diff/${encodeURIComponent(b)}`),
      ask<readonly TraceRow[]>(tracePath(a)),
      ask<readonly TraceRow[]>(tracePath(b)),
    ]);
    return { diff, left, right };
  });
  return (
    <div className="screen">
      <div className="screen-head">
        <h1>Compare</h1>
      </div>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading lines={8} label="Comparing" />}
      {value !== undefined && <Result compared={value} />}
    </div>
  );
}

function Result({ compared: { diff, left, right } }: { readonly compared: Compared }) {
  const rows = useMemo(() => alignedVisits(left, right, diff), [left, right, diff]);
  return (
    <>
      <Totals diff={diff} />
      {diff.same ? <Empty title="The two runs are the same" /> : <Divergence diff={diff} left={left} />}
      <Change diff={diff} />
      <AlignedTable rows={rows} diff={diff} />
    </>
  );
}

function Totals({ diff }: { readonly diff: RunDiff }) {
  return (
    <div className="totals">
      {(["a", "b"] as const).map((side) => {
        const { run, turn, used } = diff[side];
        return (
          <section key={side} className="card" aria-label={run}>
            <p>
              <Link to={runHref(run)} className="mono">
                {run}
              </Link>{" "}
              <StatusChip status={diff.status[side] as "completed"} />
            </p>
            <p className="faint numbers">
              {count(turn)} turns, {count(used.visits)} visits, {count(used.model_calls)} model calls,{" "}
              {count(used.input_tokens + used.output_tokens)} tokens, {money(used.cost_usd)},{" "}
              {duration(used.wall_ms)}
            </p>
          </section>
        );
      })}
    </div>
  );
}

function Divergence({ diff, left }: { readonly diff: RunDiff; readonly left: readonly TraceRow[] }) {
  const first = diff.first_divergence;
  if (first === null) return <p className="lead">The way is the same; only how they ended differs.</p>;
  const row = left.find(({ to, visit }) => to === first.state && visit === first.visit);
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
      {row !== undefined && (
        <p>
          <Link to={runHref(diff.a.run, { turn: Math.max(1, row.turn) })}>
            See the turn before, to fork from it
          </Link>
        </p>
      )}
    </section>
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
