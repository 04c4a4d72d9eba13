// The trace of RFC 0009: one row per transition, read back from the journal as full rows (S36).

import { isoTime } from "../base/iso-time.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { put } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import { beginTurn, type Draft, draftOf, take } from "./apply.ts";
import type { Entered, TurnRow } from "./facts.ts";
import { type ArtifactValue, artifactValue, emptyRun, type Run } from "./run.ts";
import { type ChildRun, type SummaryUsed, usedOf } from "./summary.ts";

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
  /** Runs of the agents called in the visit that begins here; known once the visit is over. */
  readonly children: readonly string[];
  /** Of a visit that runs a composition: its steps as they ended, complete once the visit is over. */
  readonly steps?: readonly TraceStep[];
}

/** A type and not an interface, so that rows are JSON. */
export type TraceStep = { readonly id: string; readonly status: "done" | "failed" | "skipped" };

/** Rows with the runs that were called from their visits. */
export function rowsWithChildren(
  rows: readonly TraceRow[],
  children: readonly ChildRun[],
): readonly TraceRow[] {
  if (children.length === 0) return rows;
  const runs = new Map<string, string[]>();
  const keyOf = (state: string, visit: number) => `${visit} ${state}`;
  for (const { run, state, visit } of children) {
    const key = keyOf(state ?? "", visit);
    runs.set(key, [...(runs.get(key) ?? []), run]);
  }
  return rows.map((row) => ({ ...row, children: runs.get(keyOf(row.to, row.visit)) ?? [] }));
}

export function* traceOf(rows: Iterable<TurnRow>, from: Run = emptyRun): Generator<TraceRow> {
  const tracer = new Tracer(from);
  for (const row of rows) yield* tracer.take(row);
}

/** Folds a journal turn by turn; artifact values that did not change are shared between rows. */
export class Tracer {
  readonly #run: Draft;
  readonly #changed = new Set<string>();
  #values: Readonly<Record<string, Json>> = {};
  /** The logs that texts among the values were made from. */
  readonly #logs = new Map<string, Log<Json>>();
  /** The steps of the visit that the last row began; the row shows the same list. */
  #steps: TraceStep[] = [];

  constructor(from: Run = emptyRun) {
    this.#run = draftOf(from);
    this.#show(Object.keys(from.artifacts));
  }

  /** What everything taken so far folds to. */
  get run(): Run {
    return draftOf(this.#run);
  }

  take(row: TurnRow): readonly TraceRow[] {
    const run = this.#run;
    const changed = this.#changed;
    const found: TraceRow[] = [];
    beginTurn(run, row);
    for (const fact of row.facts) {
      take(run, fact, row.at);
      if (fact.type === "wrote") changed.add(fact.artifact);
      if (fact.type === "noted" && fact.what === "part" && fact.is !== "begun")
        this.#steps.push({ id: fact.part, status: fact.is });
      if (fact.type !== "entered") continue;
      if (changed.size > 0) this.#show(changed);
      this.#steps = [];
      const shown = rowOf(fact, row, { run, values: this.#values, changed: [...changed] });
      // Only a state that runs a composition has no prompt.
      found.push(fact.prompt === "" ? { ...shown, steps: this.#steps } : shown);
      changed.clear();
    }
    return found;
  }

  #show(names: Iterable<string>): void {
    const next = { ...this.#values };
    for (const name of names) {
      const artifact = this.#run.artifacts[name];
      if (artifact !== undefined) put(next, name, this.#valueOf(name, artifact));
    }
    this.#values = next;
  }

  /** A text that was appended to is the text before and what is new: no row joins a long log again. */
  #valueOf(name: string, artifact: ArtifactValue): Json {
    if (artifact.mode === "replace" || artifact.json) return artifactValue(artifact);
    const { pieces } = artifact;
    const shown = this.#logs.get(name);
    this.#logs.set(name, pieces);
    if (shown?.cells !== pieces.cells || shown.length === 0) return artifactValue(artifact);
    let text = this.#values[name] as string;
    for (let i = shown.length; i < pieces.length; i++) text += `\n${String(pieces.cells[i])}`;
    return text;
  }
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
    children: [],
  };
}
