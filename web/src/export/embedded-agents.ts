// The runs of agents in an exported file, as the server would list them.

import { fold } from "../../../src/core/apply.ts";
import { summaryOf } from "../../../src/core/summary.ts";
import type { ExportedRun, RunExport } from "../../../src/host/exported-run.ts";
import type { RunLine } from "../../../src/host/run-line.ts";

/** Those that the run called itself and that the file holds. */
export function linesIn({ runs }: RunExport, parent: string): readonly RunLine[] {
  return runs.filter(({ run }) => run.slice(0, run.lastIndexOf("/")) === parent).map(lineOf);
}

function lineOf({ run, pack, rows }: ExportedRun): RunLine {
  const summary = summaryOf(run, pack, fold(rows));
  const { used, used_by_agents: agents, held, parent } = summary;
  const all = {
    tool_calls: used.tool_calls + (agents?.tool_calls ?? 0),
    model_calls: used.model_calls + (agents?.model_calls ?? 0),
    input_tokens: used.input_tokens + (agents?.input_tokens ?? 0),
    output_tokens: used.output_tokens + (agents?.output_tokens ?? 0),
    cost_usd: used.cost_usd + (agents?.cost_usd ?? 0),
  };
  const { status, state, turns, started_at, updated_at } = summary;
  const reason = summary.reason?.code ?? null;
  const known = { run, status, state, pack, turns, reason, started_at, updated_at };
  return { ...known, held: held !== null, visits: used.visits, used: all, parent: parent?.run ?? null };
}
