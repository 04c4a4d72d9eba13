// The trace: one row per visit, drawn only where it is looked at, however many there are.

import { useVirtualizer, type VirtualItem, type Virtualizer } from "@tanstack/react-virtual";
import { Fragment, memo, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { VisitRow } from "../journal/journal-shapes.ts";
import { count, duration, visible } from "../part/format.ts";
import { Empty } from "../part/notices.tsx";
import { goWith } from "../route.ts";
import type { AgentLine } from "./agent-lines.ts";
import { AgentButton, AgentRows, type AgentsShown, useAgents } from "./agent-rows.tsx";
import { type Columns, FIXED, type FixedColumn, gridOf, useColumns } from "./trace-columns.ts";
import { TraceTools } from "./trace-tools.tsx";
import type { RunView } from "./use-run.ts";

const ROW = 34;
/** It stands above the rows and hides as much of them. */
const HEAD = ROW + 2;
const NO_LINES: readonly AgentLine[] = [];

export function TracePanel({ view }: { readonly view: RunView }) {
  const { state, query, look, turn, moment } = view;
  const only = query.get("state");
  const rows = useMemo(() => placesOf(view, only), [only, state.visitCount, only === null ? 0 : state.rows]);
  const artifacts = artifactsOf(view);
  const columns = useColumns(query, artifacts);
  const selected = rowAt(view, rows);
  const agents = useAgents(view);
  const linesAt = (index: number): readonly AgentLine[] => {
    const row = state.visits.get(rows[index] ?? -1);
    return row === undefined ? NO_LINES : agents.lines(row);
  };
  const { scroller, virtual } = useRows(rows.length, selected, (index) => ROW + linesAt(index).length * ROW);
  useMissingRows(view, virtual.getVirtualItems(), rows);
  return (
    <section className="panel trace-panel" aria-label="Trace">
      <TraceTools view={view} all={artifacts} columns={columns} only={only} />
      {rows.length === 0 ? (
        <NoVisit only={only} />
      ) : (
        <div
          className="trace"
          ref={scroller}
          tabIndex={0}
          role="table"
          aria-label="Visits"
          aria-rowcount={rows.length + 1}
          style={gridOf(columns)}
        >
          <Head columns={columns} />
          <div className="trace-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map((item) => {
              const place = rows[item.index] as number;
              const row = state.visits.get(place);
              return (
                <Fragment key={item.key}>
                  <Row
                    row={row}
                    next={state.visits.get(place + 1)}
                    end={endOf(view, place)}
                    index={item.index}
                    top={item.start}
                    columns={columns}
                    isSelected={item.index === selected}
                    isLater={row !== undefined && row.turn > turn}
                    look={look}
                    agents={row !== undefined && agents.called(row) > 0 ? agents : undefined}
                  />
                  <AgentRows lines={linesAt(item.index)} top={item.start + ROW} high={ROW} />
                </Fragment>
              );
            })}
          </div>
        </div>
      )}
      {moment.error !== undefined && (
        <p className="problem" role="alert">
          {moment.error.message}
        </p>
      )}
    </section>
  );
}

function NoVisit({ only }: { readonly only: string | null }) {
  return (
    <Empty title={only === null ? "No visit yet" : `No visit of ${visible(only)}`}>
      {only !== null && (
        <button type="button" className="button" onClick={() => goWith({ state: undefined })}>
          Show all states
        </button>
      )}
    </Empty>
  );
}

/** The rows that are drawn; the selected one is always among them. */
function useRows(length: number, selected: number, sizeOf: (index: number) => number) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: length,
    getScrollElement: () => scroller.current,
    estimateSize: sizeOf,
    overscan: 12,
  });
  // What opens under rows moves those below them.
  const sizes = useRef("");
  const now = virtual
    .getVirtualItems()
    .map(({ index }) => sizeOf(index))
    .join(" ");
  useLayoutEffect(() => {
    if (sizes.current !== now) virtual.measure();
    sizes.current = now;
  }, [now]);
  const isShown = (virtual.scrollRect?.height ?? 0) > 0;
  useEffect(() => {
    if (selected >= 0 && isShown) bringIntoView(virtual, selected);
  }, [selected, length, isShown]);
  return { scroller, virtual };
}

/** From what is known of sizes: to ask the page for them would make it lay everything out at once. */
function bringIntoView(virtual: Virtualizer<HTMLDivElement, Element>, index: number): void {
  const { scrollElement, scrollRect, scrollOffset, measurementsCache } = virtual;
  const item = measurementsCache[index];
  if (scrollElement === null || scrollRect === null || item === undefined) return;
  const [first, high] = [scrollOffset ?? 0, scrollRect.height - HEAD];
  if (item.start < first) scrollElement.scrollTop = item.start;
  else if (item.end > first + high) scrollElement.scrollTop = item.end - high;
}

/** What is drawn and has not come yet is asked for, once it is known where to look. */
function useMissingRows(
  { feed, state, moment }: RunView,
  items: readonly VirtualItem[],
  rows: readonly number[],
): void {
  const places = items.map(({ index }) => rows[index] ?? 0).filter((place) => !state.visits.has(place));
  const [first, last] = [places[0] ?? -1, places.at(-1) ?? -1];
  const isPlaced = moment.value !== undefined;
  useEffect(() => {
    if (first !== -1 && isPlaced) feed.want(first, last);
  }, [feed, first, last, isPlaced]);
}

/** Places of the rows that are shown. */
function placesOf({ state }: RunView, only: string | null): readonly number[] {
  const all = Array.from({ length: state.visitCount }, (_, index) => index);
  return only === null ? all : all.filter((index) => state.visits.get(index)?.to === only);
}

function rowAt({ moment, state, turn }: RunView, rows: readonly number[]): number {
  const known = moment.value?.turn === turn ? moment.value.row : undefined;
  const place = known ?? (turn >= state.turns ? state.visitCount - 1 : undefined);
  if (place === undefined) return -1;
  return rows.length === state.visitCount ? place : rows.findLastIndex((index) => index <= place);
}

/** The time and use at which the last visit ends. */
function endOf(
  { state }: RunView,
  place: number,
): { readonly at: number; readonly used: VisitRow["used"] } | undefined {
  const { summary } = state;
  if (place !== state.visitCount - 1 || summary === undefined) return undefined;
  return { at: Date.parse(summary.updated_at), used: summary.used };
}

function artifactsOf({ state }: RunView): readonly string[] {
  const last = state.visits.get(state.visitCount - 1) ?? state.visits.get(0);
  return Object.keys(last?.cells ?? {});
}

function Head({ columns: { names, fixed } }: { readonly columns: Columns }) {
  const number = (column: FixedColumn) =>
    fixed.has(column) && (
      <span role="columnheader" className="right">
        {FIXED[column]}
      </span>
    );
  return (
    <div role="rowgroup" className="trace-head">
      <div role="row" className="trace-row" aria-rowindex={1}>
        {number("turn")}
        <span role="columnheader">Transition</span>
        {fixed.has("event") && <span role="columnheader">{FIXED.event}</span>}
        {names.map((name) => (
          <span role="columnheader" key={name} title={name}>
            {visible(name)}
          </span>
        ))}
        {number("time")}
        {number("calls")}
        {number("tokens")}
      </div>
    </div>
  );
}

interface RowProps {
  readonly row: VisitRow | undefined;
  readonly next: VisitRow | undefined;
  readonly end: { readonly at: number; readonly used: VisitRow["used"] } | undefined;
  readonly index: number;
  readonly top: number;
  readonly columns: Columns;
  readonly isSelected: boolean;
  readonly isLater: boolean;
  readonly look: (turn: number) => void;
  /** Of a visit that called some. */
  readonly agents: AgentsShown | undefined;
}

const Row = memo(function Row(props: RowProps) {
  const { row, next, end, index, top, columns, isSelected, isLater, look, agents } = props;
  const { names, fixed } = columns;
  const place = { transform: `translateY(${top}px)` };
  if (row === undefined)
    return (
      <div role="row" className="trace-row waiting-row" aria-rowindex={index + 2} style={place}>
        <span role="cell" className="faint">
          …
        </span>
      </div>
    );
  const after = next ?? end;
  const number = (column: FixedColumn, text: string, kind = "right numbers") =>
    fixed.has(column) && (
      <span role="cell" className={kind}>
        {text}
      </span>
    );
  const name = [
    "trace-row",
    isSelected && "selected",
    isLater && "later",
    row.cause === "redirect" && "redirect",
  ];
  return (
    <div
      role="row"
      className={name.filter((one) => one !== false).join(" ")}
      aria-rowindex={index + 2}
      aria-current={isSelected ? "true" : undefined}
      style={place}
      onClick={() => look(row.turn)}
    >
      {number("turn", count(row.turn), "right numbers faint")}
      <span role="cell">
        <button type="button" className="row-button" onClick={() => look(row.turn)}>
          <span className="row-name">→ {visible(row.to)}</span> <span className="faint">({row.visit})</span>
        </button>
        {agents !== undefined && <AgentButton agents={agents} row={row} />}
      </span>
      {fixed.has("event") && (
        <span role="cell" title={eventText(row)}>
          {eventText(row)}
        </span>
      )}
      {names.map((artifact) => (
        <span role="cell" key={artifact} className={row.changed.includes(artifact) ? "changed" : "kept"}>
          {cellText(row, artifact)}
        </span>
      ))}
      {number("time", after === undefined ? "" : duration(after.at - row.at))}
      {number("calls", after === undefined ? "" : count(callsIn(row, after)))}
      {number("tokens", after === undefined ? "" : count(tokensIn(row, after)))}
    </div>
  );
});

type Used = Pick<VisitRow, "used">;

const callsIn = ({ used: a }: Used, { used: b }: Used): number =>
  b.model_calls + b.tool_calls - a.model_calls - a.tool_calls;

const tokensIn = ({ used: a }: Used, { used: b }: Used): number =>
  b.input_tokens + b.output_tokens - a.input_tokens - a.output_tokens;

function eventText({ event, by, cause, redirectedFrom, to }: VisitRow): string {
  if (event === null) return "entry";
  const who = by === null ? "" : ` by ${by}`;
  const why = cause === "redirect" ? ` · max_visits of ${redirectedFrom.join(", ")} → ${to}` : "";
  return visible(`${event}${who}${why}`);
}

function cellText(row: VisitRow, artifact: string): string {
  const text = Object.hasOwn(row.cells, artifact) ? (row.cells[artifact] ?? "") : "";
  return text === "" ? "—" : visible(text);
}
