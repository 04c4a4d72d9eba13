// The trace of RFC 0009: one row per transition, read back from the journal as full rows (S36).

import { isoTime } from "../base/iso-time.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { put } from "../base/json.ts";
import { apply, beginTurn } from "./apply.ts";
import type { Entered, TurnRow } from "./facts.ts";
import { artifactValue, emptyRun, type Run } from "./run.ts";
import { type SummaryUsed, usedOf } from "./summary.ts";

export interface TraceRow {
  readonly turn: number;
  readonly from: string | null;
  readonly event: string | null;
  readonly to: string;
  readonly visit: number;
  readonly cause: "entry" | "event" | "outside" | "redirect";
  readonly redirected_from: readonly string[];
  readonly by: string | null;
  readonly artifacts: JsonObject;
  /** Artifacts written since the row before. */
  readonly changed: readonly string[];
  readonly used: SummaryUsed;
  readonly at: string;
}

/** Folds the journal once; artifact values that did not change are shared between rows. */
export function* traceOf(rows: Iterable<TurnRow>, from: Run = emptyRun): Generator<TraceRow> {
  let run = from;
  let values: Record<string, Json> = {};
  const changed = new Set<string>();
  for (const [name, artifact] of Object.entries(run.artifacts)) put(values, name, artifactValue(artifact));
  for (const row of rows) {
    run = beginTurn(run, row);
    for (const fact of row.facts) {
      run = apply(run, fact, row.at);
      if (fact.type === "wrote") {
        changed.add(fact.artifact);
      } else if (fact.type === "entered") {
        if (changed.size > 0) values = withChanges(values, changed, run);
        yield rowOf(fact, row, { run, values, changed: [...changed] });
        changed.clear();
      }
    }
    run = { ...run, turn: row.turn };
  }
}

function withChanges(
  values: Readonly<Record<string, Json>>,
  changed: ReadonlySet<string>,
  run: Run,
): Record<string, Json> {
  const next = { ...values };
  for (const name of changed) {
    const artifact = run.artifacts[name];
    if (artifact !== undefined) put(next, name, artifactValue(artifact));
  }
  return next;
}

function rowOf(
  { state, visit, cause }: Entered,
  { turn, at }: TurnRow,
  { run, values, changed }: { run: Run; values: JsonObject; changed: readonly string[] },
): TraceRow {
  const hops = cause.kind === "event" ? (cause.hops ?? []) : [];
  const by = cause.kind === "event" ? (cause.by ?? null) : null;
  return {
    turn,
    from: cause.kind === "event" ? cause.from : null,
    event: cause.kind === "event" ? cause.event : null,
    to: state,
    visit,
    cause:
      cause.kind === "entry" ? "entry" : hops.length > 0 ? "redirect" : by !== null ? "outside" : "event",
    redirected_from: hops,
    by,
    artifacts: values,
    changed,
    used: usedOf(run),
    at: isoTime(at),
  };
}
