// The lines of the live view, as pieces: what a run is, a visit that ended, the visit under way, and how much
// of each budget is used. They compute nothing about the run beyond what it already says.

import type { Json } from "../../base/json.ts";
import { cells, padded, shortened } from "../../base/screen-text.ts";
import type { Limits } from "../../core/facts.ts";
import { flowOf } from "../../core/flow.ts";
import type { Program } from "../../core/program.ts";
import { isPerformed, type Run } from "../../core/run.ts";
import { usedOf } from "../../core/summary.ts";
import { analyse } from "../../pack/flow/analysis.ts";
import { boundOf } from "../../pack/flow/bound.ts";
import type { Piece } from "../format/terminal-line.ts";
import { markOf, plural } from "./progress.ts";
import type { Visit, VisitNews } from "./visit-log.ts";

/** How wide columns of names may get. */
const NAME_CELLS_MAX = 24;
const VALUE_CELLS_MAX = 24;

/** Past so many configurations the header states an upper bound: it must not keep a run waiting. */
const CONFIGURATIONS_MAX = 20_000;

/** Widths of columns, the same for every line of a run. */
export interface Columns {
  readonly state: number;
  readonly event: number;
}

export function columnsOf({ workflow }: Program, prompt: string): Columns {
  const states = Object.entries(workflow?.states ?? { [prompt]: { events: {} } });
  const widest = (names: readonly string[]) => Math.min(NAME_CELLS_MAX, Math.max(3, ...names.map(cells)));
  return {
    state: widest(states.map(([name]) => name)),
    event: widest(states.flatMap(([, { events }]) => Object.keys(events))),
  };
}

/** Run, pack, entry and bound on the left, the time so far on the right. */
export function headerPieces(
  { id, program, run }: { readonly id: string; readonly program: Program; readonly run: Run },
  { now, width }: { readonly now: number; readonly width: number },
): readonly Piece[] {
  const entry = program.workflow === null ? `prompt ${run.prompt}` : `entry ${program.workflow.entry}`;
  const rest = `  ${program.id} ${program.version}  ${entry}  ${boundWords(program, run.limits)}`;
  const time = clockText(now - run.startedAt);
  const gap = Math.max(2, Math.min(width, 79) - cells(id) - cells(rest) - time.length);
  return [{ text: id, style: "bold" }, { text: `${rest}${" ".repeat(gap)}` }, { text: time, style: "dim" }];
}

function boundWords(program: Program, limits: Limits): string {
  const flow = flowOf(program);
  const bound =
    program.workflow === null
      ? { visits: 1, verdict: "guards" as const }
      : boundOf(program, analyse(flow, flow.entry, CONFIGURATIONS_MAX), flow);
  const visits = Math.min(bound.visits ?? Infinity, limits.visits ?? Infinity);
  if (visits !== Infinity) return `bounded: ${plural(visits, "visit")}`;
  if (limits.wallMs !== null) return `bounded: ${limits.wallMs / 1000} s`;
  return bound.verdict === "undecided" ? "bound not decided" : "unbounded";
}

export function newsPieces(news: VisitNews, program: Program, columns: Columns): readonly Piece[] {
  if (news.kind === "redirected") {
    const hops = news.hops.map((hop) => `${hop} reached ${limitOf(program, hop) ?? "its limit"}`);
    return [{ text: "  ↪ ", style: "yellow" }, { text: `${news.to} (${hops.join(", ")})` }];
  }
  const { visit } = news;
  const place = placeOf(visit, program, columns);
  if (news.kind === "waits") return [{ text: "  … ", style: "yellow" }, { text: `${place}waits` }];
  const mark = markOf(news);
  const calls = plural(visit.calls, "call");
  const spent = `${(news.ms / 1000).toFixed(1)} s`;
  const text = `${place}${padded(shortened(news.event, NAME_CELLS_MAX), columns.event)}   ${calls.padEnd(8)} ${spent.padStart(8)}`;
  const wrote = [...visit.wrote].map(
    ([name, value]) => `${name} ${shortened(valueText(value), VALUE_CELLS_MAX)}`,
  );
  return [
    { text: `  ${mark} `, style: mark === "✓" ? "green" : "red" },
    { text },
    { text: wrote.length === 0 ? "" : `   ${wrote.join(" · ")}`, style: "dim" },
  ];
}

interface VisitNow {
  readonly visit: Visit;
  readonly run: Run;
  readonly program: Program;
  /** What the agent of a step does. */
  readonly inside: (step: number) => string;
}

/** The visit under way: its round, what is in flight, and for how long. */
export function nowPieces(
  { visit, run, program, inside }: VisitNow,
  { columns, now }: { readonly columns: Columns; readonly now: number },
): readonly Piece[] {
  const seconds = `${Math.max(0, Math.floor((now - visit.startedAt) / 1000))} s`;
  const width = columns.event + 3 + 8;
  const text = `${placeOf(visit, program, columns)}${padded(shortened(doing(run, inside), 48), width)} ${seconds.padStart(8)}`;
  return [{ text: "  ▸ ", style: "cyan" }, { text }];
}

function doing(run: Run, inside: VisitNow["inside"]): string {
  const flying: string[] = [];
  const wanted: string[] = [];
  for (const [step, open] of Object.entries(run.open)) {
    const { ask } = open;
    const part = "part" in ask && ask.part !== undefined ? `${ask.part}: ` : "";
    if (ask.kind === "model") flying.push(`${part}model`);
    else if (ask.kind === "tool" || ask.kind === "agent") {
      const tool = `${part}${ask.tool}${ask.kind === "agent" ? inside(Number(step)) : ""}`;
      (isPerformed(open) ? flying : wanted).push(isPerformed(open) ? tool : `an answer of ${tool}`);
    } else if (ask.kind === "event") wanted.push(...ask.allow);
    else if (ask.kind === "approval") wanted.push(`approval of ${ask.tool}`);
    else if (ask.kind === "message") wanted.push("a message");
  }
  if (flying.length > 0) return `${roundText(run)}${flying.join(", ")}`;
  return wanted.length > 0 ? `waits for ${wanted.join(", ")}` : `round ${run.round}`;
}

/** Rounds of a composition are those of its steps. */
const roundText = ({ round, composing }: Run): string => (composing === undefined ? `round ${round} · ` : "");

function placeOf({ state, number }: Visit, program: Program, columns: Columns): string {
  const limit = limitOf(program, state);
  const visits = limit === null ? String(number) : `${number}/${limit}`;
  return `${padded(shortened(state, NAME_CELLS_MAX), columns.state)}  ${visits.padEnd(6)} `;
}

const limitOf = ({ workflow }: Program, state: string): number | null =>
  workflow !== null && Object.hasOwn(workflow.states, state)
    ? (workflow.states[state]?.maxVisits ?? null)
    : null;

const valueText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

interface Gauge {
  readonly label: string;
  readonly used: number;
  readonly limit: number | null;
  readonly text: (value: number) => string;
  readonly unit?: string;
}

/** Bars are the first thing to go where there is little room. */
const BAR_CELLS = [10, 5, 3, 0] as const;

export function gaugePieces(run: Run, { now, width }: { readonly now: number; readonly width: number }) {
  const gauges = gaugesOf(run, now);
  let pieces: readonly Piece[] = [];
  for (const bar of BAR_CELLS) {
    pieces = [{ text: "    " }, ...gauges.flatMap((gauge, i) => gaugeText(gauge, bar, i > 0))];
    if (pieces.reduce((sum, { text }) => sum + cells(text), 0) <= width) break;
  }
  return pieces;
}

function gaugeText(
  { label, used, limit, text, unit }: Gauge,
  bar: number,
  isNext: boolean,
): readonly Piece[] {
  const gap = isNext ? "   " : "";
  const end = unit === undefined ? "" : ` ${unit}`;
  if (limit === null) return [{ text: `${gap}${label} ${text(used)}${end}` }];
  const ratio = limit === 0 ? 1 : used / limit;
  const full = Math.max(0, Math.min(bar, Math.ceil(ratio * bar)));
  const drawn = bar === 0 ? "" : ` ${"▓".repeat(full)}${"░".repeat(bar - full)}`;
  const amount = `${label} ${text(used)}/${text(limit)}${end}${drawn}`;
  return [{ text: gap }, { text: amount, ...(ratio >= 0.8 && { style: "yellow" as const }) }];
}

function gaugesOf(run: Run, now: number): readonly Gauge[] {
  const { used, limits } = run;
  const whole = (value: number) => String(Math.floor(value));
  const seconds = limits.wallMs === null ? null : limits.wallMs / 1000;
  const time = seconds !== null && seconds < 10 ? (value: number) => value.toFixed(1) : whole;
  const all: readonly Gauge[] = [
    { label: "visits", used: used.visits, limit: limits.visits, text: whole },
    { label: "calls", used: used.toolCalls, limit: limits.toolCalls, text: whole },
    { label: "time", used: spentMs(run, now) / 1000, limit: seconds, text: time, unit: "s" },
    { label: "cost", used: used.costUsd, limit: limits.costUsd, text: (usd) => `$${usd.toFixed(2)}` },
    { label: "model calls", used: used.modelCalls, limit: limits.modelCalls, text: whole },
    { label: "tokens in", used: used.inputTokens, limit: limits.inputTokens, text: whole },
    { label: "tokens out", used: used.outputTokens, limit: limits.outputTokens, text: whole },
  ];
  return all.filter(({ limit }, i) => i < 3 || limit !== null);
}

/** The run's own time goes on between turns; where only active time counts, it stands while it waits. */
function spentMs(run: Run, now: number): number {
  const since = Math.max(0, now - run.now);
  const counts = run.wallClock === "total" || Object.values(run.open).some(isPerformed);
  return usedOf(run).wall_ms + (counts && run.final === null ? since : 0);
}

/** `01:42`, or `1:02:03` from an hour on. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours > 0 ? `${hours}:` : ""}${two(minutes)}:${two(seconds % 60)}`;
}
