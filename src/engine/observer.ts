// Whoever watches the engine. It is told what happens when it happens, decides nothing, and never fails or
// delays what it watches.

import type { CallAsk, Fact, ModelAsk, Traced, TurnRow } from "../core/facts.ts";
import type { Program } from "../core/program.ts";
import type { ModelRequest } from "../core/request.ts";
import type { Run } from "../core/run.ts";
import type { CallTrace, Clock, TraceHeaders } from "./ports.ts";

export interface EngineObserver {
  /** From now on turns are made here; where the store is shared, of the same runs elsewhere, too. */
  began(at: number, isShared: boolean): void;
  /** The trace that whoever speaks to the engine at this moment is in. */
  active(): TraceHeaders | undefined;
  /** A turn is decided and about to be committed. Of one that is not committed nothing more is heard. */
  turn(turn: PlannedTurn): TurnWatch;
  /** A run that was left is taken up here; told again when it is. */
  resuming(taken: TakenRun): () => void;
  /** An attempt at a call is about to be made. */
  call(call: PlannedCall): CallWatch;
  /** Where processes share a store: another one drives the run, or has ended it. */
  dropped(id: string, at: number): void;
  /** Nothing is driven here any more. */
  stopped(at: number): void;
}

export interface PlannedTurn {
  readonly id: string;
  /** Undefined for the first turn of a fork. */
  readonly before: Run | undefined;
  readonly after: Run;
  readonly facts: readonly Fact[];
  readonly at: number;
  readonly program: Program;
  /** Of the request that led to it. */
  readonly trace: TraceHeaders | undefined;
}

export interface TurnWatch {
  /** To be journaled with the turn. */
  readonly note: Traced | undefined;
  committed(turn: { readonly row: TurnRow; readonly run: Run; readonly tookMs: number }): void;
}

export interface TakenRun {
  readonly id: string;
  readonly run: Run;
  readonly program: Program;
  readonly at: number;
}

export interface PlannedCall {
  readonly id: string;
  readonly run: Run;
  readonly step: number;
  readonly ask: ModelAsk | CallAsk;
  /** What a model is sent. */
  readonly request?: ModelRequest;
  readonly attempt: number;
  readonly at: number;
}

export interface CallWatch {
  readonly trace: CallTrace;
  /** Makes the call where those who watch the way there find it. */
  within<T>(call: () => Promise<T>): Promise<T>;
  ended(end: CallEnd): void;
}

export interface CallEnd {
  readonly at: number;
  /** Nobody waits for it any more. */
  readonly givenUp: boolean;
  readonly answer?: unknown;
  readonly error?: unknown;
}

/** An attempt that somebody watches. */
export async function watched<T>(
  watch: CallWatch,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  call: (trace: CallTrace) => Promise<T>,
): Promise<T> {
  try {
    const answer = await watch.within(() => call(watch.trace));
    watch.ended({ at: clock.now(), givenUp: signal.aborted, answer });
    return answer;
  } catch (error) {
    watch.ended({ at: clock.now(), givenUp: signal.aborted, error });
    throw error;
  }
}
