// What a run of the built-in pack is told when it stands at its gate, from its own journal: the report it
// wrote, and which of its actions succeeded.

import type { JsonObject } from "../base/json.ts";
import type { Ask, Fact, TurnRow } from "../core/facts.ts";
import type { Input } from "../core/input.ts";
import type { Run } from "../core/run.ts";
import { REFUSALS_MAX, refusedCompletion } from "./completion-gate.ts";
import { GATE } from "./goal-pack.ts";
import type { Report } from "./read-answer.ts";

export interface GateTerms {
  readonly at: number;
  readonly stepsMax: number;
  readonly hasFile: (path: string) => boolean;
}

export const isAtGate = ({ state, final }: Run): boolean => final === null && state === GATE;

/** The event that opens the gate or sends the run back; after too many claims, its end. */
export function gateInput(run: Run, rows: readonly TurnRow[], { at, stepsMax, hasFile }: GateTerms): Input {
  const { frame, report, succeeded } = claimIn(rows);
  const hasSucceeded = (step: number) => succeeded.has(step);
  const reasons = refusedCompletion({ frame, report, hasSucceeded, hasFile });
  const by = GATE;
  if (reasons.length === 0) return { type: "event", at, name: "Granted", by };
  const message = `Done was refused: ${reasons.join("; ")}`.slice(0, MESSAGE_MAX);
  if ((run.visits["act"] ?? 0) >= stepsMax) return { type: "event", at, name: "Spent", by, context: message };
  if ((run.visits[GATE] ?? 0) >= REFUSALS_MAX)
    return { type: "fail", at, by, code: "completion_unsupported", message };
  return { type: "event", at, name: "Refused", by, context: message };
}

const MESSAGE_MAX = 1000;

interface Claimed {
  readonly frame: JsonObject | null;
  readonly report: Report | null;
  readonly succeeded: ReadonlySet<number>;
}

function claimIn(rows: readonly TurnRow[]): Claimed {
  const reading = new Reading();
  for (const { facts } of rows) for (const fact of facts) reading.take(fact);
  return reading;
}

class Reading implements Claimed {
  frame: JsonObject | null = null;
  report: Report | null = null;
  readonly succeeded = new Set<number>();
  /** Visits of `act` in which something was called, which is what the model counts by. */
  #actions = 0;
  #hasCalled = false;
  /** Actions by the step of the core that stands for them. */
  readonly #actionsByStep = new Map<number, number>();

  take(fact: Fact): void {
    switch (fact.type) {
      case "entered":
        this.#hasCalled = false;
        // A report speaks of what was known when it was written.
        if (fact.state === "reflect") this.report = null;
        return;
      case "wrote":
        if (fact.artifact === "frame") this.frame = fact.value as JsonObject;
        if (fact.artifact === "report") this.report = fact.value as unknown as Report;
        return;
      case "asked":
        return this.#asked(fact.step, fact.ask.kind);
      case "answered": {
        const action = this.#actionsByStep.get(fact.step);
        if (action !== undefined && fact.outcome.ok) this.succeeded.add(action);
        return;
      }
      default:
        return;
    }
  }

  #asked(step: number, kind: Ask["kind"]): void {
    const isCall = kind === "tool" || kind === "agent";
    if (!isCall && kind !== "approval") return;
    // The call that a person approves is the one that was asked for.
    if (!this.#hasCalled) this.#actions += 1;
    this.#hasCalled = true;
    if (isCall) this.#actionsByStep.set(step, this.#actions);
  }
}
