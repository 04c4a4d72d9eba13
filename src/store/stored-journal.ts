// What the suite of store promises says over and over: journals put into a store, and runs read back as text.

import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { canonical, type Json } from "../base/json.ts";
import { itemsOf } from "../base/log.ts";
import { fold } from "../core/apply.ts";
import type { TurnRow } from "../core/facts.ts";
import { emptyRun, type Run } from "../core/run.ts";
import type { RunCreation, Store } from "../engine/ports.ts";
import { type SampleTurn, sampleCreation } from "./sample-journal.ts";

export interface Opened {
  store: Store;
  reopen: () => Promise<Store>;
}

/** Commits a journal turn by turn as the run `run`. */
export async function commitAll(
  store: Store,
  run: string,
  journal: readonly SampleTurn[],
  create: RunCreation = sampleCreation,
): Promise<void> {
  for (const { row, after } of journal) {
    expect(await store.commit({ run, row, after, ...(row.turn === 1 && { create }) })).toBe(true);
  }
}

/** A run with only those cells of its logs that are its own. */
function shapeOf(run: Run): object {
  const artifacts = Object.entries(run.artifacts).map(([name, artifact]) => [
    name,
    artifact.mode === "append" ? { ...artifact, pieces: itemsOf(artifact.pieces) } : artifact,
  ]);
  return { ...run, conversation: itemsOf(run.conversation), artifacts };
}

/** A run as one text, whatever the order of its keys. */
export const plain = (run: Run): string => canonical(shapeOf(run) as Json);

/** Quicker than comparing texts, and without anything to read when they differ. */
export const isSameRun = (a: Run, b: Run): boolean => isDeepStrictEqual(shapeOf(a), shapeOf(b));

export async function foldedAt(store: Store, run: string, turn: number): Promise<string> {
  const stored = await store.loadAt(run, turn);
  expect(stored, `run ${run} is there`).toBeDefined();
  return plain(fold(stored?.rows ?? [], stored?.snapshot));
}

export const folded = (store: Store, run: string): Promise<string> =>
  foldedAt(store, run, Number.MAX_SAFE_INTEGER);

/** The fold of the first `turn` turns, by the rows alone. */
export const prefix = (journal: readonly SampleTurn[], turn: number): string =>
  plain(turn === 0 ? emptyRun : fold(journal.slice(0, turn).map(({ row }) => row)));

export const at = <T>(list: readonly T[], index: number): T => list.at(index) as T;

/** Appends turns that hold a text of each size; the texts differ, and so do their halves. */
export function withLargeTexts(
  journal: readonly SampleTurn[],
  sizes: readonly number[],
): readonly SampleTurn[] {
  const all = [...journal];
  for (const [index, size] of sizes.entries()) {
    const last = at(all, -1);
    const text = `${index}é\u0000`.repeat(size).slice(0, size);
    const row: TurnRow = {
      ...last.row,
      turn: last.row.turn + 1,
      facts: [{ type: "noted", what: "message", text, by: "somebody" }],
    };
    all.push({ row, after: fold([row], last.after) });
  }
  return all;
}

/** The first own turn of a fork of `journal` after `turn`. */
export function forkTurn(journal: readonly SampleTurn[], turn: number): SampleTurn {
  const before = at(journal, turn - 1).after;
  const row: TurnRow = {
    turn: turn + 1,
    at: before.now + 1_000,
    v: 1,
    facts: [
      {
        type: "forked",
        from: { run: "r", turn },
        digest: "digest-of-a-fork",
        resetBudget: false,
        variables: before.variables,
      },
    ],
  };
  return { row, after: fold([row], before) };
}
