// Where turns come from: the server, or the file that they are in.

import type { TurnRow } from "../../../src/core/facts.ts";
import type { Program } from "../../../src/core/program.ts";
import type { Run } from "../../../src/core/run.ts";
import type { Live, VisitRow } from "./journal-shapes.ts";

export interface Source {
  /** Gives every turn once and in order, until the signal; says how it stands meanwhile. */
  follow(told: Told, signal: AbortSignal): Promise<void>;
  program(digest: string): Promise<PackOf>;
  /** A turn with those around it, of the last one if none is given; not where all turns are at hand. */
  readonly around?: (turn: number | undefined) => Promise<Around>;
  /** A turn with everything in it; not where all turns are so. */
  readonly row?: (turn: number) => Promise<TurnRow | undefined>;
  /** Rows of the trace from a place on, the first being 0, for when the turns are not here yet. */
  readonly visits?: (first: number, most: number) => Promise<readonly VisitRow[]>;
}

export interface Around {
  /** What the turns before the first row fold to. */
  readonly base: Run;
  readonly rows: readonly TurnRow[];
}

export interface PackOf {
  readonly id: string;
  readonly version: string;
  readonly program: Program;
}

export interface Told {
  /** `turns` is how many there are, as far as is known. */
  rows(rows: readonly TurnRow[], turns: number): void;
  live(live: Live): void;
  tokens(step: number, text: string): void;
}
