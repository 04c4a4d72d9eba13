// What a golden journal is held to: every part of the folded run that 0.1.0 knew, named one by one, so that a
// field added later changes nothing and one that folds differently does.

import { canonical, type Json } from "../../src/base/json.ts";
import { itemsOf } from "../../src/base/log.ts";
import { sha256Of } from "../../src/base/sha256.ts";
import { applyTurn } from "../../src/core/apply.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import { artifactValue, emptyRun, type Run, statusOf } from "../../src/core/run.ts";
import { type TraceRow, traceOf } from "../../src/core/trace.ts";

/** One line of `digests.json`. */
export interface Golden {
  readonly status: string;
  readonly turns: number;
  readonly path: string;
  readonly sha256: string;
}

export function goldenOf(rows: readonly TurnRow[]): Golden {
  const trace = [...traceOf(rows)];
  // After every turn, because a later one may cover up what an earlier one was folded to.
  const texts: string[] = [];
  let run = emptyRun;
  for (const row of rows) {
    run = applyTurn(run, row);
    texts.push(canonical(projection(run) as unknown as Json));
  }
  texts.push(canonical(trace.map(traceProjection)));
  return {
    status: statusOf(run),
    turns: run.turn,
    path: trace.map((row) => row.to).join(" → "),
    sha256: sha256Of(texts.join("\n")),
  };
}

function projection(run: Run) {
  return {
    turn: run.turn,
    now: run.now,
    startedAt: run.startedAt,
    final: run.final,
    reason: run.reason,
    digest: run.digest,
    mode: run.mode,
    variables: run.variables,
    input: run.input,
    limits: run.limits,
    wallClock: run.wallClock,
    gated: run.gated,
    parent: run.parent,
    forkedFrom: run.forkedFrom,
    state: run.state,
    prompt: run.prompt,
    visits: run.visits,
    round: run.round,
    nudges: run.nudges,
    visitCalls: run.visitCalls,
    scheduled: run.scheduled,
    context: run.context,
    lastText: run.lastText,
    conversation: itemsOf(run.conversation),
    artifacts: Object.fromEntries(
      Object.entries(run.artifacts).map(([name, artifact]) => [name, artifactValue(artifact)]),
    ),
    step: run.step,
    open: run.open,
    used: run.used,
    asksByState: run.asksByState,
    callsByTool: run.callsByTool,
    eventsByState: run.eventsByState,
    lastUsage: run.lastUsage,
    dedupe: run.dedupe,
  };
}

function traceProjection(row: TraceRow) {
  const { turn, from, event, to, visit, cause, redirected_from, by, artifacts, changed, at } = row;
  return { turn, from, event, to, visit, cause, redirected_from, by, artifacts, changed, at };
}
