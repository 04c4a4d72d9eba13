// Both ways in one table, drawn only where it is looked at.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import type { TraceRow } from "../../../src/core/trace.ts";
import type { RunDiff } from "../../../src/host/run-diff.ts";
import { visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { goWith, runHref } from "../route.ts";
import type { AlignedVisit } from "./aligned-visits.ts";

interface TableProps {
  readonly rows: readonly AlignedVisit[];
  readonly diff: RunDiff;
}

const ROW = 34;

export function AlignedTable({ rows, diff }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  return (
    <div
      className="trace aligned"
      ref={scroller}
      tabIndex={0}
      role="table"
      aria-label="Visits of both runs"
      aria-rowcount={rows.length + 1}
    >
      <div role="rowgroup" className="trace-head">
        <div role="row" className="trace-row" aria-rowindex={1}>
          <span role="columnheader">Visit</span>
          <span role="columnheader">{diff.a.run}</span>
          <span role="columnheader">{diff.b.run}</span>
          <span role="columnheader">Differs in</span>
        </div>
      </div>
      <div role="rowgroup" className="trace-body" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index] as AlignedVisit;
          const place = { transform: `translateY(${item.start}px)` };
          const name = row.changes.length > 0 ? "trace-row differs" : "trace-row";
          return (
            <div key={item.key} role="row" className={name} aria-rowindex={item.index + 2} style={place}>
              <span role="cell">
                {visible(row.state)} <span className="faint">({row.visit})</span>
              </span>
              <Side run={diff.a.run} row={row.left} />
              <Side run={diff.b.run} row={row.right} />
              <span role="cell" className="tags">
                {row.changes.map((index) => (
                  <button
                    key={index}
                    type="button"
                    className="inline-button"
                    onClick={() => goWith({ change: index })}
                  >
                    {visible(diff.changes[index]?.field ?? "")}
                  </button>
                ))}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Side({ run, row }: { readonly run: string; readonly row: TraceRow | undefined }) {
  if (row === undefined)
    return (
      <span role="cell" className="faint">
        not visited
      </span>
    );
  return (
    <span role="cell">
      <Link to={runHref(run, { turn: row.turn })}>turn {row.turn}</Link>{" "}
      <span className="faint">{visible(row.event ?? "entry")}</span>
    </span>
  );
}
