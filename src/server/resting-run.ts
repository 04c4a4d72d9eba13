// Waits with a caller until a run has ended or wants something of somebody, be it by way of an agent. The run
// does not notice.

import { hasEnded } from "./is-over.ts";
import { type OpenQuestion, openQuestions } from "./open-questions.ts";
import { type SeenRun, seenRun } from "./seen-run.ts";
import type { ServerParts } from "./server-parts.ts";

export interface StandingRun extends SeenRun {
  /** What it wants of anybody. None while an agent that was asked something has just gone on. */
  readonly questions: readonly OpenQuestion[];
}

export async function standingRun(parts: ServerParts, id: string): Promise<StandingRun> {
  const seen = await seenRun(parts, id);
  return { ...seen, questions: hasEnded(seen.record) ? [] : await openQuestions(parts, seen) };
}

/** It is nobody's turn but somebody's outside: a late answer of a tool is not waited for by a person. */
export const isResting = ({ record, questions }: StandingRun): boolean =>
  hasEnded(record) || questions.length > 0;

/** The run as it rests, or as it stands when the signal ends the wait. */
export async function restingRun(parts: ServerParts, id: string, signal: AbortSignal): Promise<StandingRun> {
  const reader = parts.feed.follow(id, { agents: true });
  const stop = () => reader.stop();
  signal.addEventListener("abort", stop);
  try {
    for (;;) {
      // Asked for before looking: what comes while we look must not be missed.
      const changed = reader.next();
      reader.take();
      const standing = await standingRun(parts, id);
      if (isResting(standing) || signal.aborted || reader.stopped) return standing;
      await changed;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    reader.leave();
  }
}
