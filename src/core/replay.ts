// Decides a recorded turn again under today's rules and compares (S53). Nothing is called: what the outside
// said is in the journal.

import { deepEqual, type Json } from "../base/json.ts";
import { decide } from "./decide.ts";
import type { Fact, ModelAsk, TurnRow } from "./facts.ts";
import { decideFork } from "./fork.ts";
import type { Decision } from "./input.ts";
import { partSpec } from "./part-site.ts";
import type { Program } from "./program.ts";
import { recordedInput } from "./recorded-input.ts";
import { modelRequest, requestHash } from "./request.ts";
import type { Run } from "./run.ts";

export interface ReplayDifference {
  readonly turn: number;
  /** From 1: the first fact of the turn that differs. */
  readonly fact: number;
  /** Null where one side has no such fact. */
  readonly recorded: Json;
  readonly decided: Json;
  readonly why: string;
}

/** The program a turn is decided with: the one it begins to use, or the one the run has. */
export function digestFor(run: Run, { facts: [first] }: TurnRow): string {
  return first?.type === "started" || first?.type === "forked" ? first.digest : run.digest;
}

/** What is different about the turn after `run`; undefined when today's rules decide the same. */
export function replayTurn(program: Program, run: Run, given: TurnRow): ReplayDifference | undefined {
  // Who watched is not decided by rules.
  const row: TurnRow = { ...given, facts: given.facts.filter((fact) => !isTraced(fact)) };
  const recorded = recordedInput(program, run, row);
  if (recorded === undefined)
    return { ...at(row, 0, []), why: "these facts follow from no input known today" };
  const decision =
    recorded.kind === "fork"
      ? decideFork(program, run, recorded.input)
      : decide(program, run, recorded.input);
  const facts = decision.kind === "facts" ? stored(decision.facts) : [];
  for (let index = 0; index < Math.max(facts.length, row.facts.length); index++) {
    const before = row.facts[index];
    const now = asThen(facts[index], before);
    if (before === undefined || now === undefined || !deepEqual(json(before), json(now)))
      return { ...at(row, index, facts), why: whyOf(decision) };
  }
  return requestDrift(program, run, row);
}

/** A journal that does not say what an agent was granted was written before anybody did. */
function asThen(now: Fact | undefined, before: Fact | undefined): Fact | undefined {
  if (now?.type !== "asked" || now.ask.kind !== "agent" || before?.type !== "asked") return now;
  if (before.ask.kind !== "agent" || before.ask.grant !== undefined) return now;
  const { grant: _grant, ...ask } = now.ask;
  return { ...now, ask };
}

const isTraced = (fact: Fact): boolean => fact.type === "noted" && fact.what === "traced";

/** A model that answered another request than today's program and rules would send. */
function requestDrift(program: Program, run: Run, row: TurnRow): ReplayDifference | undefined {
  const [first] = row.facts;
  if (first?.type !== "answered" || first.hash === undefined) return undefined;
  const ask = run.open[first.step]?.ask;
  if (ask?.kind !== "model" || mayHaveChanged(program, run, ask)) return undefined;
  const hash = requestHash(modelRequest(program, run, ask));
  if (hash === first.hash) return undefined;
  const decided: Fact[] = [{ ...first, hash }];
  return {
    ...at(row, 0, decided),
    why: `today the model would be sent another request in step ${first.step}`,
  };
}

/** A part that shows artifacts may have been asked before the parts beside it wrote them. */
function mayHaveChanged(program: Program, run: Run, { part }: ModelAsk): boolean {
  if (part === undefined || partSpec(program, run, part).parent === null) return false;
  return Object.keys(program.workflow?.artifacts ?? {}).length > 0;
}

function at(
  { turn, facts }: TurnRow,
  index: number,
  decided: readonly Fact[],
): Omit<ReplayDifference, "why"> {
  return { turn, fact: index + 1, recorded: json(facts[index]), decided: json(decided[index]) };
}

function whyOf(decision: Decision): string {
  if (decision.kind === "refused") return `today the input is refused: ${decision.refusal.code}`;
  if (decision.kind === "ignored") return `today the input is ignored: ${decision.why}`;
  return "today's rules decide otherwise";
}

/** As a journal gives facts back. */
const stored = (facts: readonly Fact[]): readonly Fact[] =>
  JSON.parse(JSON.stringify(facts)) as readonly Fact[];

const json = (fact: Fact | undefined): Json => (fact ?? null) as unknown as Json;
