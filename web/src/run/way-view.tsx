// The way as it was: a lane for each state, a line down for each visit. A long way is drawn in parts.

import type { StateLine, VisitRow } from "../journal/journal-shapes.ts";
import { count, visible } from "../part/format.ts";
import { Empty } from "../part/notices.tsx";
import type { RunView } from "./use-run.ts";

/** Visits drawn at a time. */
const WINDOW = 500;
const LANE = 26;
const STEP = 26;
const HEAD = 16;

interface WayProps {
  readonly view: RunView;
  readonly states: readonly StateLine[];
}

type PlacedRow = VisitRow & { readonly place: number };

export function WayView({ view, states }: WayProps) {
  const { state, moment, look } = view;
  const selected = moment.value?.row ?? state.visitCount - 1;
  const first = Math.floor(Math.max(0, selected) / WINDOW) * WINDOW;
  const last = Math.min(state.visitCount, first + WINDOW);
  const lanes = new Map(states.map(({ name }, index) => [name, index]));
  const rows: PlacedRow[] = [];
  for (let place = first; place < last; place++) {
    const row = state.visits.get(place);
    if (row !== undefined) rows.push({ ...row, place });
  }
  if (rows.length === 0) return <Empty title="No visit yet" />;
  const wide = states.length * LANE + 16;
  const xOf = (name: string): number => 16 + (lanes.get(name) ?? 0) * LANE;
  const yOf = (place: number): number => HEAD + (place - first) * STEP;
  const places = { xOf, yOf, wide, high: yOf(last) };
  return (
    <div className="scroll way" tabIndex={0} role="region" aria-label="The way of the run">
      {state.visitCount > WINDOW && (
        <p className="faint small">
          visits {count(first + 1)} to {count(last)} of {count(state.visitCount)}
        </p>
      )}
      <div className="way-body" style={{ height: yOf(last) + 8 }}>
        <Lanes states={states} rows={rows} places={places} selected={selected} turn={view.turn} />
        <ol className="way-names" start={first + 1}>
          {rows.map((row) => (
            <li key={row.place} style={{ top: yOf(row.place) - 12, left: wide }}>
              <button
                type="button"
                className={row.place === selected ? "row-button selected" : "row-button"}
                aria-current={row.place === selected ? "true" : undefined}
                onClick={() => look(row.turn)}
              >
                {visible(row.to)} <span className="faint">({row.visit})</span>
                {row.event !== null && <span className="faint"> {visible(row.event)}</span>}
              </button>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

interface LanesProps {
  readonly states: readonly StateLine[];
  readonly rows: readonly PlacedRow[];
  readonly places: {
    readonly xOf: (state: string) => number;
    readonly yOf: (place: number) => number;
    readonly wide: number;
    readonly high: number;
  };
  readonly selected: number;
  readonly turn: number;
}

function Lanes({ states, rows, places, selected, turn }: LanesProps) {
  const { xOf, yOf, wide, high } = places;
  return (
    <svg width={wide} height={high} aria-hidden="true">
      {states.map(({ name }) => (
        <line key={name} className="way-lane" x1={xOf(name)} x2={xOf(name)} y1={0} y2={high} />
      ))}
      {rows.slice(1).map((row, index) => {
        const before = rows[index] as PlacedRow;
        const [x1, y1, x2, y2] = [xOf(before.to), yOf(before.place), xOf(row.to), yOf(row.place)];
        const middle = (y1 + y2) / 2;
        const name = row.cause === "redirect" ? "way-line redirect" : "way-line";
        return (
          <path
            key={row.place}
            className={name}
            d={`M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`}
          />
        );
      })}
      {rows.map((row) => {
        const isHere = row.place === selected;
        const name = isHere ? "way-dot selected" : row.turn > turn ? "way-dot later" : "way-dot";
        return (
          <circle
            key={row.place}
            className={name}
            cx={xOf(row.to)}
            cy={yOf(row.place)}
            r={isHere ? 6 : 4.5}
          />
        );
      })}
    </svg>
  );
}
