// The trace: one row per visit, drawn only where it is looked at, however many there are.

import { useVirtualizer, type VirtualItem, type Virtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, Fragment, memo, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { VisitRow } from "../journal/journal-shapes.ts";
import { count, duration, visible } from "../part/format.ts";
import { Empty } from "../part/notices.tsx";
import { goWith } from "../route.ts";
import type { AgentLine } from "./agent-lines.ts";
import { AgentButton, AgentRows, type AgentsShown, useAgents } from "./agent-rows.tsx";
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
  const names = useSame(columnsOf(view));
  const selected = rowAt(view, rows);
  const agents = useAgents(view);
  const linesAt = (index: number): readonly AgentLine[] => {
    const row = state.visits.get(rows[index] ?? -1);
    return row === undefined ? NO_LINES : agents.lines(row);
  };
  const { scroller, virtual } = useRows(rows.length, selected, (index) => ROW + linesAt(index).length * ROW);
  useMissingRows(view, virtual.getVirtualItems(), rows);
  const columns = {
    "--columns": gridOf(names.length),
    "--least": `${490 + names.length * 130}px`,
  } as CSSProperties;
  return (
    <section className="panel trace-panel" aria-label="Trace">
      <TraceTools view={view} all={artifactsOf(view)} names={names} only={only} />
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
          style={columns}
        >
          <Head names={names} />
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
                    names={names}
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

/** The list of before as long as it says the same: rows are drawn again only for another one. */
function useSame(names: readonly string[]): readonly string[] {
  const before = useRef(names);
  const isSame =
    names.length === before.current.length && names.every((one, at) => one === before.current[at]);
  if (!isSame) before.current = names;
  return before.current;
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

function columnsOf(view: RunView): readonly string[] {
  const hidden = new Set((view.query.get("hide") ?? "").split(",").filter((name) => name !== ""));
  return artifactsOf(view).filter((name) => !hidden.has(encodeURIComponent(name)));
}

const gridOf = (artifacts: number): string =>
  `56px minmax(150px, 1.2fr) minmax(110px, 1fr) ${"minmax(130px, 1fr) ".repeat(artifacts)}76px 50px 64px`;

function Head({ names }: { readonly names: readonly string[] }) {
  return (
    <div role="rowgroup" className="trace-head">
      <div role="row" className="trace-row" aria-rowindex={1}>
        <span role="columnheader" className="right">
          Turn
        </span>
        <span role="columnheader">Transition</span>
        <span role="columnheader">Event</span>
        {names.map((name) => (
          <span role="columnheader" key={name} title={name}>
            {visible(name)}
          </span>
        ))}
        <span role="columnheader" className="right">
          Time
        </span>
        <span role="columnheader" className="right">
          Calls
        </span>
        <span role="columnheader" className="right">
          Tokens
        </span>
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
  readonly names: readonly string[];
  readonly isSelected: boolean;
  readonly isLater: boolean;
  readonly look: (turn: number) => void;
  /** Of a visit that called some. */
  readonly agents: AgentsShown | undefined;
}

const Row = memo(function Row(props: RowProps) {
  const { row, next, end, index, top, names, isSelected, isLater, look, agents } = props;
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
      <span role="cell" className="right numbers faint">
        {count(row.turn)}
      </span>
      <span role="cell">
        <button type="button" className="row-button" onClick={() => look(row.turn)}>
          → {visible(row.to)} <span className="faint">({row.visit})</span>
        </button>
        {agents !== undefined && <AgentButton agents={agents} row={row} />}
      </span>
      <span role="cell" title={eventText(row)}>
        {eventText(row)}
      </span>
      {names.map((artifact) => (
        <span role="cell" key={artifact} className={row.changed.includes(artifact) ? "changed" : "kept"}>
          {cellText(row, artifact)}
        </span>
      ))}
      <span role="cell" className="right numbers">
        {after === undefined ? "" : duration(after.at - row.at)}
      </span>
      <span role="cell" className="right numbers">
        {after === undefined ? "" : count(callsIn(row, after))}
      </span>
      <span role="cell" className="right numbers">
        {after === undefined ? "" : count(tokensIn(row, after))}
      </span>
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
