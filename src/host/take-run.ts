// Takes a run that was read from a file into a store, with the runs of its agents: all that is new of them,
// or nothing where the store has another run of one of their names.

import { readScript } from "../adapter/script/read-script.ts";
import { canonical, isObject, type Json, type JsonObject } from "../base/json.ts";
import type { TurnRow } from "../core/facts.ts";
import type { Program } from "../core/program.ts";
import { isAtWork } from "../core/run.ts";
import { Fault, type Store } from "../engine/ports.ts";
import { portableSetup, type RunFile, type RunTree } from "./run-file.ts";
import type { RunSettings } from "./run-settings.ts";
import type { RunWorlds } from "./run-worlds.ts";
import { startTerms } from "./start-terms.ts";
import { turnsOf } from "./stored-runs.ts";

export interface TakenRun {
  readonly run: string;
  readonly turns: number;
  /** How many of them were not here. */
  readonly taken: number;
}

export type Taken =
  | { readonly ok: true; readonly run: TakenRun; readonly agents: readonly TakenRun[] }
  /** Nothing was taken. */
  | { readonly ok: false; readonly why: string };

/** `more` is kept with what was kept with the runs: what they go on with here. */
export async function takeRun(store: Store, tree: RunTree, more: JsonObject = {}): Promise<Taken> {
  // Agents first: a run that is here has those it called. All are looked at before any is taken.
  const parts: Part[] = [];
  for (const one of [...tree.agents, tree]) {
    const shared = await sharedTurns(store, one);
    if (typeof shared === "string") return { ok: false, why: shared };
    parts.push({ one, shared });
  }
  const taken: TakenRun[] = [];
  for (const { one, shared: seen } of parts) {
    const shared = await takeRest(store, one, { shared: seen, more });
    if (typeof shared === "string") return { ok: false, why: shared };
    const { run, turns } = one.header;
    taken.push({ run, turns, taken: Math.max(0, turns - shared) });
  }
  return { ok: true, run: taken.at(-1) as TakenRun, agents: taken.slice(0, -1) };
}

/** What keeps work that the file's runs have to do from being done with these settings. */
export async function whatIsMissing(
  worlds: RunWorlds,
  tree: RunTree,
  settings: RunSettings,
): Promise<string | undefined> {
  for (const { header, run } of [...tree.agents, tree]) {
    if (run.final !== null || !isAtWork(run)) continue;
    const { script: kept } = header.setup;
    const script = kept !== undefined && isObject(kept) ? readScript(kept).script : undefined;
    const program = header.program as unknown as Program;
    try {
      await startTerms(worlds, { program, settings, script, limits: {}, warn: () => undefined });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return `run \`${header.run}\` has work to do that cannot be done here: ${error.message}`;
    }
  }
  return undefined;
}

interface Part {
  readonly one: RunFile;
  /** Turns of it that are here already. */
  readonly shared: number;
}

/** How many turns of the file are here already; a text when the run here went another way. */
async function sharedTurns(store: Store, one: RunFile): Promise<number | string> {
  const { header, rows } = one;
  const record = await store.record(header.run);
  if (record === undefined) {
    const holder = header.key === null ? undefined : await store.find(header.key);
    if (holder === undefined) return 0;
    return `run \`${holder}\` has the idempotency key of \`${header.run}\` already (remove one of them)`;
  }
  const shared = Math.min(record.turn, rows.length);
  for await (const row of turnsOf(store, header.run, { from: 1, to: shared }))
    if (!sameTurn(row, rows[row.turn - 1])) return another(one, row.turn);
  return record.digest === header.pack.digest ? shared : another(one, shared);
}

const another = ({ header }: RunFile, turn: number): string =>
  `another run \`${header.run}\` is here: they differ at turn ${turn} (nothing was taken; import into another store)`;

const sameTurn = (a: TurnRow, b: TurnRow | undefined): boolean =>
  b !== undefined && canonical(a as unknown as Json) === canonical(b as unknown as Json);

/** How many turns were here. Who comes second may bring the same: then they are looked at once more. */
async function takeRest(store: Store, one: RunFile, terms: TakeTerms): Promise<number | string> {
  if (await take(store, one, terms)) return terms.shared;
  const shared = await sharedTurns(store, one);
  if (typeof shared === "string") return shared;
  return (await take(store, one, { ...terms, shared })) ? shared : another(one, shared + 1);
}

interface TakeTerms {
  readonly shared: number;
  readonly more: JsonObject;
}

/** All of it or nothing: half a run could be resumed, and would go another way. */
async function take(
  store: Store,
  { header, rows, run: end }: RunFile,
  { shared, more }: TakeTerms,
): Promise<boolean> {
  const { run, pack, program, source, earlier, key, setup } = header;
  if (shared >= rows.length) return true;
  for (const one of earlier) await store.putProgram(one.digest, one.program, one.source);
  await store.putProgram(pack.digest, program, source);
  const create = {
    digest: pack.digest,
    packId: pack.id,
    packVersion: pack.version,
    setup: { ...portableSetup(setup), ...more },
    ...(key !== null && { key }),
  };
  return store.take({ run, rows, shared, end, create });
}
