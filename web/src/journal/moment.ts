// A run at one turn: how it stood, what the turn was about, and what its visit came to so far.

import type { Json } from "../../../src/base/json.ts";
import { applyTurn } from "../../../src/core/apply.ts";
import { commitNamed } from "../../../src/core/commit-name.ts";
import type { Ask, Fact, WriteSource } from "../../../src/core/facts.ts";
import type { Program } from "../../../src/core/program.ts";
import { artifactValue, type Run } from "../../../src/core/run.ts";
import { childrenOf, type Summary, summaryOf } from "../../../src/core/summary.ts";
import { cutText, cutValue } from "./cut-text.ts";
import type { Journal } from "./journal.ts";
import type { ArtifactLine, Moment, StepLine, TurnLine } from "./journal-shapes.ts";
import { logLines } from "./log-lines.ts";
import { turnLine } from "./story.ts";

export interface Known {
  readonly id: string;
  readonly pack: Pick<Summary["pack"], "id" | "version">;
  readonly program: Program | undefined;
}

/** A visit of more turns is shown around the one that is looked at. */
const TURNS_SHOWN = 400;

export function summaryAt({ id, pack }: Known, run: Run): Summary {
  return { ...summaryOf(id, { ...pack, digest: run.digest }, run), output: null };
}

export function momentAt(journal: Journal, known: Known, turn: number): Moment {
  const run = journal.runAt(turn);
  const row = journal.row(turn);
  const visit = journal.visitAt(turn);
  const { first, last } = journal.span(visit);
  const from = Math.max(first, turn - TURNS_SHOWN / 2);
  const turns = turnLines(journal, from, Math.min(last, from + TURNS_SHOWN));
  return {
    turn,
    isWhole: journal.isWhole,
    at: row.at,
    summary: summaryAt(known, run),
    row: visit,
    line: turns.find((line) => line.turn === turn) ?? turnLine(row, journal.runAt(turn - 1)),
    turns,
    steps: stepsOf(journal, known, { first, turn, run }),
    artifacts: Object.keys(run.artifacts).map((name) => artifactLine(journal, known, { name, turn, run })),
    modelStep: modelStepOf(journal, turn),
    facts: cutValue(row.facts as unknown as Json),
    logs: logLines(journal.rows(Math.max(first, turn - TURNS_SHOWN), turn), (step) => askOf(journal, step)),
    variables: Object.entries(run.variables).map(([name, value]) => ({ name, value: cutValue(value) })),
    input: cutText(run.input),
    ways: Object.fromEntries(journal.waysUpTo(visit)),
  };
}

function turnLines(journal: Journal, first: number, last: number): readonly TurnLine[] {
  const lines: TurnLine[] = [];
  for (let turn = first, run = journal.runAt(first - 1); turn <= last; turn++) {
    const row = journal.row(turn);
    lines.push(turnLine(row, run));
    run = applyTurn(run, row);
  }
  return lines;
}

function askOf(journal: Journal, step: number): Ask | undefined {
  const place = journal.step(step);
  const facts = place === undefined ? [] : journal.row(place.asked).facts;
  const asked = facts.find((fact) => fact.type === "asked" && fact.step === step);
  return asked?.type === "asked" ? asked.ask : undefined;
}

/** A turn that answers a model is about that call; any other about the one asked last. */
function modelStepOf(journal: Journal, turn: number): number | null {
  const before = turn === 1 ? undefined : journal.runAt(turn - 1);
  for (const fact of journal.row(turn).facts)
    if (fact.type === "answered" && before?.open[fact.step]?.ask.kind === "model")
      return journal.step(fact.step) === undefined ? null : fact.step;
  return journal.modelStepAt(turn);
}

interface Seen {
  readonly first: number;
  readonly turn: number;
  readonly run: Run;
}

function stepsOf(journal: Journal, known: Known, { first, turn, run }: Seen): readonly StepLine[] {
  const steps: StepLine[] = [];
  for (const row of journal.rows(first, turn))
    for (const fact of row.facts)
      if (fact.type === "asked" && fact.ask.kind !== "timer" && fact.ask.kind !== "reply")
        steps.push(stepLine(journal, known, { fact, at: row.at, asked: row.turn, turn, run }));
  return steps;
}

interface AskedAt {
  readonly fact: Extract<Fact, { type: "asked" }>;
  readonly asked: number;
  readonly at: number;
  /** The turn that is looked at, and the run at it. */
  readonly turn: number;
  readonly run: Run;
}

export function stepLine(journal: Journal, { id }: Known, seen: AskedAt): StepLine {
  const { fact, asked, at, turn, run } = seen;
  const answered = journal.step(fact.step)?.answered ?? null;
  const isKnown = answered !== null && answered <= turn;
  const given = isKnown ? answerIn(journal, answered, fact.step) : undefined;
  const open = run.open[fact.step];
  const done = given === undefined ? "abandoned" : given.outcome.ok ? "answered" : "failed";
  return {
    step: fact.step,
    kind: fact.ask.kind,
    tool: "tool" in fact.ask ? fact.ask.tool : null,
    turn: asked,
    at,
    status: open === undefined ? done : (open.hold ?? "open"),
    answeredTurn: isKnown ? answered : null,
    answeredAt: isKnown ? journal.row(answered).at : null,
    by: given?.by ?? null,
    child: childrenOf(id, run).find((one) => one.step === fact.step)?.run ?? null,
  };
}

export function answerIn(journal: Journal, turn: number, step: number) {
  return journal.row(turn).facts.find((fact) => fact.type === "answered" && fact.step === step) as
    | Extract<Fact, { type: "answered" }>
    | undefined;
}

interface NamedAt {
  readonly name: string;
  readonly turn: number;
  readonly run: Run;
}

function artifactLine(journal: Journal, { program }: Known, { name, turn, run }: NamedAt): ArtifactLine {
  const writes = journal.writesOf(name, turn);
  const last = writes.at(-1) ?? null;
  const facts = last === null ? [] : journal.row(last).facts;
  const wrote = facts.findLast((fact) => fact.type === "wrote" && fact.artifact === name);
  const artifact = run.artifacts[name];
  const value = artifact === undefined ? null : artifactValue(artifact);
  const specs = program?.workflow?.artifacts ?? {};
  const type = Object.hasOwn(specs, name) ? (specs[name]?.type ?? "") : "";
  return {
    name,
    type,
    mode: artifact?.mode ?? "replace",
    value: cutValue(value),
    isJson: typeof value !== "string",
    turn: last,
    source: wrote?.type === "wrote" ? sourceText(wrote.source) : "",
    before: writes.at(-2) ?? null,
    commit: commitNamed(value),
  };
}

function sourceText(source: WriteSource): string {
  switch (source.kind) {
    case "model":
      return `model, step ${source.step}`;
    case "tool":
      return `${source.tool}, step ${source.step}`;
    case "outside":
      return `${source.by}, from outside`;
    case "fork":
      return "edit of the fork";
  }
}
