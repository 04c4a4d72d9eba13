// Runs as a store has them, read without touching them. What is not there is a fault with its own code, which
// the command line and the server each turn into their kind of "not found".

import { fold } from "../core/apply.ts";
import type { TurnRow } from "../core/facts.ts";
import type { Program } from "../core/program.ts";
import type { Run } from "../core/run.ts";
import { Fault, type RunFilter, type RunRecord, type Store } from "../engine/ports.ts";

/** Turns and records read at a time. */
const PAGE = 1_000;

export interface LoadedRun {
  readonly id: string;
  /** The turn that `run` is folded at. */
  readonly turn: number;
  readonly run: Run;
  readonly record: RunRecord;
}

/** At its last turn, or at the one given. A turn the run does not have is an error, not its nearest one. */
export async function loadedRun(store: Store, id: string, at?: number): Promise<LoadedRun> {
  const record = await knownRecord(store, id);
  const turn = at ?? record.turn;
  if (turn < 1 || turn > record.turn)
    throw missing("unknown-turn", `run \`${id}\` has no turn ${turn} (it has 1 to ${record.turn})`);
  return { id, turn, run: await runAt(store, id, turn), record };
}

export async function knownRecord(store: Store, id: string): Promise<RunRecord> {
  return known(id, await store.record(id));
}

export async function runAt(store: Store, id: string, turn: number): Promise<Run> {
  const stored = known(id, await store.loadAt(id, turn));
  return fold(stored.rows, stored.snapshot);
}

function known<T>(id: string, found: T | undefined): T {
  if (found !== undefined) return found;
  throw missing("unknown-run", `run \`${id}\` does not exist (see packloop ls)`);
}

export const missing = (code: `unknown-${string}`, message: string): Fault =>
  new Fault(code, message, { retry: "never" });

/** Turns `from` to `to` page by page: a long run is never held whole. */
export async function* turnsOf(
  store: Store,
  id: string,
  { from, to }: { from: number; to: number },
): AsyncGenerator<TurnRow> {
  for (let first = from; first <= to; first += PAGE)
    yield* await store.rows(id, { from: first, to, limit: PAGE });
}

export async function storedProgram(store: Store, digest: string): Promise<Program> {
  const stored = await store.program(digest);
  if (stored === undefined)
    throw missing("unknown-pack", `the program \`${digest}\` of the run is not in the store`);
  return stored.program as unknown as Program;
}

export interface RecordFilter extends Pick<RunFilter, "status" | "packId" | "parent" | "before"> {
  /** Records read at a time. */
  readonly page?: number;
}

/** Every run that fits, newest first, however many there are. A damaged one is named and passed over. */
export async function* eachRecord(
  store: Store,
  { before: first, page: size = PAGE, ...filter }: RecordFilter,
  damaged: (run: string) => void,
): AsyncGenerator<RunRecord> {
  const read: string[] = [];
  let before = first;
  for (;;) {
    const page = await unlessDamaged(() =>
      store.list({ ...filter, limit: size, ...(before !== undefined && { before }) }),
    );
    if (page === undefined) return yield* oneByOne(store, filter, { before, damaged });
    for (const record of page) read.push(record.run);
    yield* page;
    if (page.length > 0 && page.length < size) return;
    if (page.length === 0 && !(await dropRemoved(store, read))) return;
    before = read.at(-1) ?? first;
  }
}

/**
 * Behind a run that was removed meanwhile a store lists nothing: one goes on behind the last one read that is
 * still there, and reads nothing twice, as all behind it are gone. False when that is where one was.
 */
async function dropRemoved(store: Store, read: string[]): Promise<boolean> {
  let dropped = false;
  for (let run = read.at(-1); run !== undefined; run = read.at(-1)) {
    const name = run;
    if ((await unlessDamaged(() => store.record(name))) !== undefined) break;
    read.pop();
    dropped = true;
  }
  return dropped;
}

/** Slower: a page of records is refused whole when one of them is damaged. */
async function* oneByOne(
  store: Store,
  { status, packId, parent }: RecordFilter,
  { before, damaged }: { before: string | undefined; damaged: (run: string) => void },
): AsyncGenerator<RunRecord> {
  const names = await store.names({ prefix: "", limit: Number.MAX_SAFE_INTEGER });
  const fits = (record: RunRecord): boolean =>
    status?.includes(record.status) !== false &&
    (packId ?? record.packId) === record.packId &&
    (parent === undefined || record.parent === parent);
  for (const run of names.slice(before === undefined ? 0 : names.indexOf(before) + 1)) {
    const record = await unlessDamaged(() => store.record(run));
    if (record === undefined) damaged(run);
    else if (fits(record)) yield record;
  }
}

/** Undefined when what is read is damaged. */
export async function unlessDamaged<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Fault && error.code === "store-corrupt") return undefined;
    throw error;
  }
}
