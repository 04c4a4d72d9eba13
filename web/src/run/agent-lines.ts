// The runs of agents as lines under the visit that called them: each run, the visits of those that are
// opened, and the runs that these called, as deep as they go.

import type { ChildRun } from "../../../src/core/summary.ts";
import type { TraceRow } from "../../../src/core/trace.ts";
import type { RunLine } from "../../../src/host/run-line.ts";

/** What is known of an agent's run so far. */
export interface AgentRun {
  /** Null when it is not among those that its caller has. */
  readonly line: RunLine | null | undefined;
  /** Its visits, once it was opened. */
  readonly rows: readonly TraceRow[] | undefined;
}

export type AgentLine =
  | {
      readonly kind: "run";
      readonly depth: number;
      readonly run: string;
      readonly agent: string;
      readonly line: AgentRun["line"];
      readonly isOpen: boolean;
    }
  | { readonly kind: "visit"; readonly depth: number; readonly run: string; readonly row: TraceRow }
  | {
      readonly kind: "more";
      readonly depth: number;
      readonly run: string;
      readonly rows: number | undefined;
    };

/** More visits of one agent are looked at on its own page. */
const VISITS_MAX = 50;

/** Agents that call each other may go on; no tree of packloop is deeper than this. */
const DEPTH_MAX = 8;

export interface Opened {
  readonly isOpen: (run: string) => boolean;
  readonly known: (run: string) => AgentRun;
}

export function agentLines(
  children: readonly Pick<ChildRun, "run" | "agent">[],
  opened: Opened,
): readonly AgentLine[] {
  return children.flatMap(({ run, agent }) => linesOf({ run, agent, depth: 1 }, opened));
}

interface Called {
  readonly run: string;
  readonly agent: string;
  readonly depth: number;
}

function linesOf({ run, agent, depth }: Called, opened: Opened): readonly AgentLine[] {
  const { line, rows } = opened.known(run);
  const isOpen = opened.isOpen(run) && depth <= DEPTH_MAX;
  const lines: AgentLine[] = [{ kind: "run", depth, run, agent, line, isOpen }];
  if (!isOpen) return lines;
  for (const row of (rows ?? []).slice(0, VISITS_MAX)) {
    lines.push({ kind: "visit", depth, run, row });
    for (const child of row.children)
      lines.push(...linesOf({ run: child, agent: "", depth: depth + 1 }, opened));
  }
  if (rows === undefined || rows.length > VISITS_MAX)
    lines.push({ kind: "more", depth, run, rows: rows?.length });
  return lines;
}
