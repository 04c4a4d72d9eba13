// Agents in the trace: a visit that called some opens in place and shows how the run of each went.

import { useMemo } from "react";
import type { Summary } from "../../../src/core/summary.ts";
import type { TraceRow } from "../../../src/core/trace.ts";
import type { RunLine } from "../../../src/host/run-line.ts";
import { ask, runPath } from "../api.ts";
import { embeddedRun } from "../export/embedded-run.ts";
import type { VisitRow } from "../journal/journal-shapes.ts";
import { count, money, visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { StatusChip } from "../part/status-chip.tsx";
import { useChanges } from "../part/use-changes.ts";
import { useMany } from "../part/use-many.ts";
import { goWith, runHref, usePlace } from "../route.ts";
import { type AgentLine, type AgentRun, agentLines } from "./agent-lines.ts";
import type { RunView } from "./use-run.ts";

export interface AgentsShown {
  /** How many agents the visit called. */
  called(row: VisitRow): number;
  isOpen(row: VisitRow): boolean;
  toggle(row: VisitRow): void;
  /** Under the visit; empty while it is closed. */
  lines(row: VisitRow): readonly AgentLine[];
}

const keyOf = (state: string, visit: number): string => `${visit} ${state}`;
const NOBODY: Summary["children"] = [];

export function useAgents({ feed, state, query }: RunView): AgentsShown {
  const children = state.summary?.children ?? NOBODY;
  const byVisit = useMemo(() => {
    const found = new Map<string, Summary["children"][number][]>();
    for (const child of children) {
      const key = keyOf(child.state ?? "", child.visit);
      found.set(key, [...(found.get(key) ?? []), child]);
    }
    return found;
  }, [children]);
  const open = useMemo(() => openedIn(query), [query]);
  const runs = useMemo(() => [...open].filter((one) => one.includes("/")), [open]);
  const round = useChanges(open.size > 0 && embeddedRun() === undefined);
  const parents = open.size === 0 ? [] : [feed.run, ...runs];
  const lines = useMany(parents, linesUnder, round);
  const traces = useMany(runs, traceUnder, round);
  const known = (run: string) => {
    const listed = lines.get(run.slice(0, run.lastIndexOf("/")));
    const line = listed?.find((one) => one.run === run);
    return { line: line ?? (listed === undefined ? undefined : null), rows: traces.get(run) };
  };
  const of = (row: VisitRow) => byVisit.get(keyOf(row.to, row.visit)) ?? NOBODY;
  const isOpen = (row: VisitRow): boolean => open.has(String(row.turn)) && of(row).length > 0;
  return {
    called: (row) => of(row).length,
    isOpen,
    toggle: (row) => toggle(open, String(row.turn)),
    lines: (row) => (isOpen(row) ? agentLines(of(row), { isOpen: (run) => open.has(run), known }) : []),
  };
}

const openedIn = (query: URLSearchParams): ReadonlySet<string> =>
  new Set((query.get("agents") ?? "").split(" ").filter((one) => one !== ""));

/** Visits by their turn and runs by their name stand in the address. */
function toggle(open: ReadonlySet<string>, one: string): void {
  const next = open.has(one) ? [...open].filter((other) => other !== one) : [...open, one];
  goWith({ agents: next.join(" ") }, { replace: true });
}

/** Agents of one run that are listed. */
const LISTED_MAX = 200;

async function linesUnder(run: string): Promise<readonly RunLine[]> {
  const embedded = embeddedRun();
  if (embedded !== undefined) {
    const lines = (await import("../export/embedded-agents.ts")).linesIn;
    return lines(await embedded.about(), run);
  }
  const path = `/api/runs?parent=${encodeURIComponent(run)}&limit=${LISTED_MAX}`;
  return (await ask<{ readonly items: readonly RunLine[] }>(path)).items;
}

async function traceUnder(run: string): Promise<readonly TraceRow[]> {
  const embedded = embeddedRun();
  if (embedded === undefined) return ask<readonly TraceRow[]>(`${runPath(run)}/trace?values=short&limit=200`);
  const { traceRows } = await import("./trace-rows.ts");
  return traceRows(run);
}

interface AgentButtonProps {
  readonly agents: AgentsShown;
  readonly row: VisitRow;
}

export function AgentButton({ agents, row }: AgentButtonProps) {
  const called = agents.called(row);
  if (called === 0) return null;
  const isOpen = agents.isOpen(row);
  return (
    <button
      type="button"
      className="agent-button"
      aria-expanded={isOpen}
      onClick={(event) => {
        event.stopPropagation();
        agents.toggle(row);
      }}
    >
      <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {count(called)} {called === 1 ? "agent" : "agents"}
    </button>
  );
}

interface AgentRowsProps {
  readonly lines: readonly AgentLine[];
  readonly top: number;
  readonly high: number;
}

export function AgentRows({ lines, top, high }: AgentRowsProps) {
  const { query } = usePlace();
  const open = openedIn(query);
  return lines.map((line, index) => (
    <div
      key={`${line.kind} ${line.run} ${line.kind === "visit" ? line.row.turn : ""}`}
      role="row"
      className={`agent-row ${line.kind}`}
      style={{ transform: `translateY(${top + index * high}px)`, paddingLeft: 56 + line.depth * 20 }}
    >
      <span role="cell">
        <LineText line={line} open={open} />
      </span>
    </div>
  ));
}

function LineText({ line, open }: { readonly line: AgentLine; readonly open: ReadonlySet<string> }) {
  if (line.kind === "more")
    return line.rows === undefined ? (
      <span className="faint">…</span>
    ) : (
      <Link to={runHref(line.run)}>all {count(line.rows)} visits</Link>
    );
  if (line.kind === "visit") {
    const { row } = line;
    return (
      <Link to={runHref(line.run, { turn: row.turn })}>
        → {visible(row.to)} <span className="faint">({row.visit})</span>{" "}
        <span className="faint">{visible(row.event ?? "entry")}</span>
      </Link>
    );
  }
  return (
    <>
      <button
        type="button"
        className="agent-button"
        aria-expanded={line.isOpen}
        aria-label={`Visits of ${line.run}`}
        onClick={() => toggle(open, line.run)}
      >
        <span aria-hidden="true">{line.isOpen ? "▾" : "▸"}</span>
      </button>{" "}
      <Link to={runHref(line.run)} className="mono" title={line.run} label={line.run}>
        {line.run.slice(line.run.lastIndexOf("/"))}
      </Link>{" "}
      <span className="faint">{visible(line.agent)}</span> <Standing line={line.line} />
    </>
  );
}

/** What it came to, its own agents included. */
function Standing({ line }: { readonly line: AgentRun["line"] }) {
  if (line === undefined) return <span className="faint">…</span>;
  if (line === null)
    return <span className="faint">{embeddedRun() === undefined ? "not listed" : "not in this file"}</span>;
  const { used } = line;
  return (
    <>
      <StatusChip status={line.status} />{" "}
      <span className="faint numbers">
        {count(line.visits)} visits
        {used !== null &&
          `, ${count(used.model_calls + used.tool_calls)} calls, ${count(used.input_tokens + used.output_tokens)} tokens, ${money(used.cost_usd)}`}
      </span>
    </>
  );
}
