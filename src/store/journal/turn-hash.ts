// The chain over a run's turns: each hash covers its turn and the hash ahead of it. A fork's copied turns
// keep their hashes, so two runs with a common past can be seen to share it. Other rows carry a sum of their
// own. Hashes are hexadecimal here and bytes in the file: a string is cheaper to make than a buffer.

import { createHash, hash } from "node:crypto";

/** What stands ahead of the first turn. */
export const NO_HASH = "0".repeat(64);

export interface HashedTurn {
  readonly turn: number;
  readonly at: number;
  readonly v: number;
  readonly bytes: number;
  readonly standing: string;
  readonly summary: string;
  /** The facts as they are stored, or the name of the blob that holds them. */
  readonly content: string;
}

export function turnHash(before: string, row: HashedTurn): string {
  const { turn, at, v, bytes, standing, summary, content } = row;
  return hash("sha256", `${before} ${turn} ${at} ${v} ${bytes} ${standing} ${summary} ${content}`);
}

/** The name of a blob. */
export const textHash = (text: string): string => hash("sha256", text);

const SUM_LENGTH = 32;

/** Guards a row that the chain does not cover. */
export function sumOf(fields: readonly (string | number | null)[], ...bodies: readonly Uint8Array[]): string {
  const sum = createHash("sha256").update(JSON.stringify(fields));
  for (const body of bodies) sum.update(body);
  return sum.digest("hex").slice(0, SUM_LENGTH);
}
