// Runs and the runs of their agents as trees: a child's name is its caller's with the step behind it.

import type { RunRecord, Store } from "../engine/ports.ts";
import { eachRecord, type RecordFilter, unlessDamaged } from "./stored-runs.ts";

export interface TreeRecord {
  readonly record: RunRecord;
  /** How many of its callers are listed above it. */
  readonly depth: number;
}

/** The runs that wait for this one, the outermost first. One that is not here ends the chain. */
async function callersOf(store: Store, { parent }: RunRecord): Promise<readonly string[]> {
  const callers: string[] = [];
  for (let run = parent; run !== null; ) {
    const record = await unlessDamaged(() => store.record(run as string));
    if (record === undefined) break;
    callers.unshift(run);
    run = record.parent;
  }
  return callers;
}

/** Every run under this one, callers before those they called, in the order of the calls. */
export async function descendantsOf(store: Store, run: string): Promise<readonly RunRecord[]> {
  const names = await store.names({ prefix: `${run}/`, limit: Number.MAX_SAFE_INTEGER });
  const found: RunRecord[] = [];
  for (const name of names) {
    const record = await unlessDamaged(() => store.record(name));
    if (record !== undefined && record.parent !== null) found.push(record);
  }
  return found.toSorted((a, b) => byPath(a.run, b.run));
}

/**
 * Runs that fit, the newest first, each tree in one piece: callers before their agents. A tree stands where
 * its newest run would.
 */
export async function* eachInTree(
  store: Store,
  { wanted = () => true, ...filter }: RecordFilter & { readonly wanted?: (record: RunRecord) => boolean },
  damaged: (run: string) => void,
): AsyncGenerator<TreeRecord> {
  const done = new Set<string>();
  const fits = (record: RunRecord): boolean =>
    filter.status?.includes(record.status) !== false &&
    (filter.packId ?? record.packId) === record.packId &&
    wanted(record);
  for await (const record of eachRecord(store, filter, damaged)) {
    if (!wanted(record)) continue;
    const [root] = [...(await callersOf(store, record)), record.run] as const;
    if (done.has(root)) continue;
    done.add(root);
    const first = root === record.run ? record : await unlessDamaged(() => store.record(root));
    const below = await descendantsOf(store, root);
    yield* withDepths([...(first === undefined ? [] : [first]), ...below].filter(fits));
  }
}

function* withDepths(records: readonly RunRecord[]): Generator<TreeRecord> {
  const depths = new Map<string, number>();
  for (const record of records) {
    const above = record.parent === null ? undefined : depths.get(record.parent);
    const depth = above === undefined ? 0 : above + 1;
    depths.set(record.run, depth);
    yield { record, depth };
  }
}

/** Steps are numbers: the agent of step 9 comes before that of step 10. */
function byPath(a: string, b: string): number {
  const [left, right] = [a.split("/"), b.split("/")];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = Number(left[i]) - Number(right[i]);
    if (Number.isFinite(difference) && difference !== 0) return difference;
  }
  return left.length - right.length;
}
