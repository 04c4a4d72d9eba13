// What a person sees while a run goes on: one line per finished visit. Not part of the journal.

import type { TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import { statusOf } from "../../core/run.ts";

export interface Progress {
  readonly turn: (row: TurnRow, run: Run) => void;
  readonly end: (run: Run) => void;
}

/** Plain lines, one per visit, written as the visit ends. */
export function lineProgress(say: (line: string) => void): Progress {
  let visit: { state: string; number: number; startedAt: number; calls: number } | undefined;
  const close = (event: string, at: number): void => {
    if (visit === undefined) return;
    const { state, number, startedAt, calls } = visit;
    const spent = `${((at - startedAt) / 1000).toFixed(1)} s`;
    say(
      `  ✓ ${state.padEnd(16)} ${String(number).padEnd(4)} ${event.padEnd(18)} ${plural(calls, "call").padEnd(9)} ${spent}`,
    );
    visit = undefined;
  };
  return {
    turn(row, run) {
      for (const fact of row.facts) {
        if (
          fact.type === "asked" &&
          (fact.ask.kind === "tool" || fact.ask.kind === "agent") &&
          visit !== undefined
        )
          visit.calls++;
        if (fact.type === "entered") {
          const { cause } = fact;
          close(cause.kind === "event" ? cause.event : "", row.at);
          if (cause.kind === "event" && cause.hops !== undefined)
            say(`  ↪ ${fact.state} (${cause.hops.join(", ")} reached its limit)`);
          visit = { state: fact.state, number: fact.visit, startedAt: row.at, calls: 0 };
        }
        if (fact.type === "finished") close(fact.status === "completed" ? "end" : fact.status, row.at);
      }
      if (run.final === null && statusOf(run) === "waiting" && visit !== undefined) {
        say(`  … ${visit.state.padEnd(16)} ${String(visit.number).padEnd(4)} waits`);
      }
    },
    end(run) {
      const { limits, used } = run;
      const of = (label: string, value: number, limit: number | null) =>
        `${label} ${value}${limit === null ? "" : `/${limit}`}`;
      say(
        `    ${of("visits", used.visits, limits.visits)} · ${of("tool calls", used.toolCalls, limits.toolCalls)} · ${of("model calls", used.modelCalls, limits.modelCalls)}`,
      );
    },
  };
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
