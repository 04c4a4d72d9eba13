// The line about a run that every store keeps beside its journal. It says nothing the journal does not.

import { canonical, type Json } from "../base/json.ts";
import type { Ask, TurnRow } from "../core/facts.ts";
import { isPerformed, type OpenAsk, type Run, statusOf, treeUse } from "../core/run.ts";
import type { RunCreation, RunRecord } from "../engine/ports.ts";

/** The part of a record that turns change. */
export type Progress = Pick<
  RunRecord,
  "turn" | "status" | "held" | "state" | "updatedAt" | "visits" | "used" | "reason" | "open" | "due"
>;

export function progressOf(after: Run): Progress {
  const open: number[] = [];
  let due: number | null = null;
  for (const step in after.open) {
    const { ask } = after.open[step] as OpenAsk;
    open.push(Number(step));
    if (ask.kind === "timer" && (due === null || ask.due < due)) due = ask.due;
  }
  const { visits: _visits, ...used } = treeUse(after);
  return {
    turn: after.turn,
    status: statusOf(after),
    held: after.held !== undefined,
    state: after.state,
    updatedAt: after.now,
    visits: after.used.visits,
    used,
    reason: after.reason?.code ?? null,
    open,
    due,
  };
}

export function recordOf(run: string, create: RunCreation, after: Run): RunRecord {
  return {
    run,
    digest: create.digest,
    packId: create.packId,
    packVersion: create.packVersion,
    key: create.key ?? null,
    setup: create.setup,
    parent: after.parent?.run ?? null,
    startedAt: after.startedAt,
    ...progressOf(after),
  };
}

/** Whether a record says what the journal folds to. One may be older than what is counted in it. */
export function recordFits(record: RunRecord, create: RunCreation, after: Run): boolean {
  const folded = recordOf(record.run, create, after);
  return (
    canonical(jsonOf(record.used === null ? { ...folded, used: null } : folded)) === canonical(jsonOf(record))
  );
}

const jsonOf = (record: RunRecord): Json => record as unknown as Json;

/** Kinds that wait for nobody outside. A finished run may still owe a reply or a stop (I4). */
const WORK: ReadonlySet<Ask["kind"]> = new Set(["model", "tool", "agent", "reply", "stop"]);

/** What a run owes to others is paid also while it is held. */
const OWED: ReadonlySet<Ask["kind"]> = new Set(["reply", "stop"]);

export function wantsWork({ open, held }: Run): boolean {
  const kinds = held === undefined ? WORK : OWED;
  for (const step in open) {
    const { ask, hold } = open[step] as OpenAsk;
    if (hold === null && kinds.has(ask.kind)) return true;
  }
  return false;
}

/** Whether somebody outside is asked for something: an event, a message, a decision, an answer. */
export function wantsSomebody({ open, final }: Run): boolean {
  if (final !== null) return false;
  for (const step in open) {
    const one = open[step] as OpenAsk;
    const { kind } = one.ask;
    if (kind === "event" || kind === "message" || kind === "approval") return true;
    if ((kind === "tool" || kind === "agent") && one.hold !== null && !isPerformed(one)) return true;
  }
  return false;
}

/** Programs that a journal was written under: the first, and those it was forked to. */
export function digestsOf(rows: readonly TurnRow[]): readonly string[] {
  const digests = new Set<string>();
  for (const { facts } of rows)
    for (const fact of facts) if (fact.type === "started" || fact.type === "forked") digests.add(fact.digest);
  return [...digests];
}
