// One ask of a run in full, as `packloop step` and the API show it. What a model was sent is built again from
// the journal, not remembered.

import { isoTime } from "../base/iso-time.ts";
import type { JsonObject } from "../base/json.ts";
import type { Ask, Outcome } from "../core/facts.ts";
import { promptNameOf } from "../core/part-site.ts";
import { type ModelRequest, modelRequest } from "../core/request.ts";
import type { OpenAsk } from "../core/run.ts";
import { artifactsOf, childrenOf } from "../core/summary.ts";
import type { Store } from "../engine/ports.ts";
import { findStep } from "./find-step.ts";
import { type LoadedRun, storedProgram } from "./stored-runs.ts";

export type StepStatus = "open" | "in_doubt" | "deferred" | "answered" | "abandoned";

export interface ShownStep {
  readonly run: string;
  readonly step: number;
  readonly kind: Ask["kind"];
  readonly status: StepStatus;
  /** Same for every attempt at this step. */
  readonly key: string;
  readonly turn: number;
  readonly asked_at: string;
  readonly state: string | null;
  readonly visit: number | null;
  readonly prompt: string;
  readonly ask: Ask;
  readonly request: ModelRequest | null;
  readonly artifacts: JsonObject;
  readonly answer: {
    readonly turn: number;
    readonly at: string;
    readonly by: string | null;
    readonly outcome: Outcome;
  } | null;
  /** The agent's run, where an agent was called. */
  readonly child: string | null;
}

/** As of the turn that the run is loaded at. */
export async function stepView(store: Store, loaded: LoadedRun, step: number): Promise<ShownStep> {
  const { id, turn: last, run: now } = loaded;
  const { ask, asked, run, answer } = await findStep(store, id, last, step);
  const program = ask.kind === "model" ? await storedProgram(store, run.digest) : undefined;
  const { state } = run;
  return {
    run: id,
    step,
    kind: ask.kind,
    status: stepStatus(now.open[step], answer?.fact.outcome),
    key: `${id}/${step}`,
    turn: asked.turn,
    asked_at: isoTime(asked.at),
    state,
    visit: state !== null && Object.hasOwn(run.visits, state) ? (run.visits[state] ?? null) : null,
    prompt: promptNameOf(run, "part" in ask ? ask.part : undefined),
    ask,
    request: program !== undefined && ask.kind === "model" ? modelRequest(program, run, ask) : null,
    artifacts: artifactsOf(run),
    answer:
      answer === null
        ? null
        : {
            turn: answer.row.turn,
            at: isoTime(answer.row.at),
            by: answer.fact.by ?? null,
            outcome: answer.fact.outcome,
          },
    child: childrenOf(id, now).find((one) => one.step === step)?.run ?? null,
  };
}

/** What was open when the run ended, and nobody answered, was given up with it. */
export function stepStatus(open: OpenAsk | undefined, outcome: Outcome | undefined): StepStatus {
  if (open !== undefined) return open.hold ?? "open";
  return outcome === undefined || (!outcome.ok && outcome.code === "abandoned") ? "abandoned" : "answered";
}
