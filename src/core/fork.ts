// The first turn of a fork (S52): what it keeps, and the edits it makes, all in one turn, so that no call
// leaves between the copy and an edit that was to prevent it.

import type { Json, JsonObject } from "../base/json.ts";
import { apply } from "./apply.ts";
import { writeArtifact } from "./artifact-write.ts";
import { compositionOf, type PartSpec } from "./composition.ts";
import { decide } from "./decide.ts";
import { decided, refused } from "./decision.ts";
import type { Ask, Fact, Forked, Limits, Outcome } from "./facts.ts";
import { type Decision, FORK } from "./input.ts";
import type { Program } from "./program.ts";
import type { RunStart } from "./reachable-prompts.ts";
import { isWallTimer, type PartRun, type Run } from "./run.ts";
import { gatedTools, packLimits } from "./start.ts";
import { Turn } from "./turn.ts";
import { resolveVariables } from "./variables.ts";
import { follow } from "./visit.ts";

export interface ForkInput {
  readonly at: number;
  readonly from: { readonly run: string; readonly turn: number };
  readonly digest: string;
  readonly resetBudget: boolean;
  /** All of them: those that stay and those that change. */
  readonly variables: JsonObject;
  readonly artifacts: JsonObject;
  readonly answers: readonly { readonly step: number; readonly outcome: Outcome }[];
  readonly event?: string;
  /** With another pack: what it brings. */
  readonly pack?: NonNullable<Forked["pack"]>;
}

/** `program` is the one the fork goes on with; `run` is the origin at the cut. */
export function decideFork(program: Program, run: Run, input: ForkInput): Decision {
  if (run.final !== null) return refused({ code: "run-finished", status: run.final });
  const { at, from, digest, resetBudget, variables, pack } = input;
  const unfit = packProblem(program, run) ?? variableProblem(program, run, variables);
  if (unfit !== undefined) return unfit;
  const forked: Forked = {
    type: "forked",
    from,
    digest,
    resetBudget,
    variables,
    ...(pack !== undefined && { pack }),
  };
  const edits = new Edits(run, forked, at);
  if (pack !== undefined || resetBudget) edits.take((now) => askAgain(program, now, pack !== undefined));
  for (const [name, value] of Object.entries(input.artifacts))
    edits.take((now) => set(program, now, name, value));
  for (const { step, outcome } of input.answers) edits.take((now) => substitute(program, now, step, outcome));
  if (input.event !== undefined) edits.take((now) => choose(program, now, input.event as string));
  edits.take((now) => goOn(program, now));
  return edits.decision;
}

/** S13: another pack's limits, but what was tightened for this run stays tightened. */
export function packOfFork(before: Program, after: Program, run: Run): NonNullable<Forked["pack"]> {
  const old = packLimits(before);
  const limits: Record<string, number | null> = { ...packLimits(after) };
  for (const key of Object.keys(old) as (keyof Limits)[]) {
    const own = run.limits[key];
    if (own !== null && own !== old[key]) limits[key] = Math.min(own, limits[key] ?? own);
  }
  return {
    limits: limits as unknown as Limits,
    wallClock: after.workflow?.wallClock ?? "total",
    gated: gatedTools(after, run.gated),
  };
}

/** Folds one edit after the other; the first refusal is the answer. */
class Edits {
  readonly #facts: Fact[];
  #run: Run;
  #refused: Decision | undefined;

  constructor(run: Run, forked: Forked, at: number) {
    this.#facts = [forked];
    this.#run = apply(run, forked, at);
  }

  take(edit: (run: Run) => Decision): void {
    if (this.#refused !== undefined) return;
    const decision = edit(this.#run);
    if (decision.kind !== "facts") {
      this.#refused = decision;
      return;
    }
    this.#facts.push(...decision.facts);
    // All edits are one turn.
    this.#run = { ...decision.run, turn: this.#run.turn };
  }

  get decision(): Decision {
    return (
      this.#refused ?? {
        kind: "facts",
        facts: this.#facts,
        run: { ...this.#run, turn: this.#run.turn + 1 },
      }
    );
  }
}

/** The place where the run stands must exist in the pack it goes on with. */
function packProblem(program: Program, run: Run): Decision | undefined {
  const states = Object.keys(program.workflow?.states ?? {});
  if (run.state !== null && !states.includes(run.state))
    return refused({ code: "unknown-state", state: run.state, known: states });
  const prompts = Object.keys(program.prompts);
  if (run.prompt !== "" && !prompts.includes(run.prompt))
    return refused({ code: "unknown-prompt", prompt: run.prompt, known: prompts });
  return partProblem(program, run);
}

/** A composition under way goes on in the same parts, or not at all. */
function partProblem(program: Program, run: Run): Decision | undefined {
  const { composing, state } = run;
  if (composing === undefined || composing.output !== undefined) return undefined;
  const composition = compositionOf(program, state);
  const name = program.workflow?.states[state ?? ""]?.composition;
  const fits = Object.entries(composing.parts).every(([id, begun]) => {
    const part = composition?.partById.get(id);
    return part !== undefined && goesOnAs(part, begun, openIn(run, id));
  });
  if (name === composing.composition && fits) return undefined;
  const what = `composition \`${composing.composition}\` is under way, and the pack has other steps for it`;
  return refused({ code: "unsupported", what });
}

type OpenInPart = Extract<Ask, { readonly part?: string }>;

const openIn = ({ open }: Run, id: string): readonly OpenInPart[] =>
  Object.values(open).flatMap(({ ask }) => ("part" in ask && ask.part === id ? [ask] : []));

/** What is under way in the part must be what the other pack does there: else its answer leads nowhere. */
function goesOnAs(part: PartSpec, { prompt, is }: PartRun, open: readonly OpenInPart[]): boolean {
  const calls = open.flatMap((ask) => (ask.kind === "model" ? [] : [ask.tool]));
  if (prompt !== undefined) {
    const asks = part.kind === "agent" || (part.kind === "prompt" && calls.length === 0);
    return asks && part.prompt === prompt;
  }
  if (is !== "running") return true;
  return calls.length === 0
    ? part.kind === "parallel"
    : part.kind === "tool" && calls.every((tool) => tool === part.tool);
}

/** S40, for the prompts that can still be reached. */
function variableProblem(program: Program, run: Run, variables: JsonObject): Decision | undefined {
  const { problems } = resolveVariables(program, placeOf(run), { values: variables });
  if (problems.length === 0) return undefined;
  return refused({ code: "bad-variables", problems: problems.map(({ message }) => message) });
}

export const placeOf = (run: Run): RunStart =>
  run.state === null ? { kind: "prompt", name: run.prompt } : { kind: "state", name: run.state };

/** A timer for the budget before, and with another pack the events of the pack before, hold no more. */
function askAgain(program: Program, run: Run, events: boolean): Decision {
  return decided(program, run, run.now, (turn) => {
    const asked = Object.values(turn.run.open).some(({ ask }) => ask.kind === "event");
    turn.abandon((open) => isWallTimer(open) || (events && open.ask.kind === "event"));
    if (events && asked) turn.ask({ kind: "event", allow: turn.events });
  });
}

function set(program: Program, run: Run, artifact: string, value: Json): Decision {
  const { state } = new Turn(program, run, run.now);
  const written = writeArtifact(program, state, { artifact, value, source: { kind: "fork" } });
  if (!written.ok) return refused({ code: "bad-artifact", artifact, message: written.message });
  const fact: Fact = written.fact.mode === "append" ? { ...written.fact, fresh: true } : written.fact;
  return { kind: "facts", facts: [fact], run: apply(run, fact) };
}

function substitute(program: Program, run: Run, step: number, outcome: Outcome): Decision {
  const open = Object.keys(run.open).map(Number);
  if (!open.includes(step)) return refused({ code: "step-not-open", step, open });
  const decision = decide(program, run, { type: "answer", at: run.now, step, outcome, by: FORK });
  // What is open takes an answer, save a timer before its time.
  return decision.kind === "ignored" ? refused({ code: "step-not-open", step, open }) : decision;
}

/** Agents that were being stopped are the origin's: nothing is granted to them here. */
function goOn(program: Program, run: Run): Decision {
  if (run.stalled === undefined) return { kind: "facts", facts: [], run };
  return decided(program, run, run.now, (turn) => turn.askStalled());
}

/** The event is the editor's choice: it holds also where the model would have chosen. */
function choose(program: Program, run: Run, event: string): Decision {
  if (run.final !== null) return refused({ code: "run-finished", status: run.final });
  const allowed = new Turn(program, run, run.now).events;
  if (!allowed.includes(event)) return refused({ code: "event-not-allowed", event, allowed });
  return decided(program, run, run.now, (turn) => {
    if (!turn.overTime()) follow(turn, event, "", FORK);
  });
}
