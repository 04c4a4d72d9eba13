// The first turn of a fork, rule by rule.

import { describe, expect, test } from "vitest";
import { openPack } from "../pack/open-pack.ts";
import { fold } from "./apply.ts";
import { decide } from "./decide.ts";
import type { TurnRow } from "./facts.ts";
import { decideFork, type ForkInput, packOfFork } from "./fork.ts";
import type { Decision, Input, StartInput } from "./input.ts";
import type { Program } from "./program.ts";
import { replayTurn } from "./replay.ts";
import { emptyRun, type Run } from "./run.ts";

const text = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [pay] }
tools:
  pay:
    name: pay
    description: Pays.
    parameters: { type: object, properties: {} }
    action_scope: { effect: external }
workflow:
  version: 2
  entry: a
  states:
    a:
      prompt_task: p
      on_event: { Next: b, End: c }
      artifacts: { log: { type: text/plain, mode: append } }
    b: { prompt_task: p, on_event: { Next: a }, max_visits: 1 }
    c: { prompt_task: p, terminal: true }
  engine: { budget: { max_total_visits: 10, max_wall_time_sec: 100 } }
`;

function opened(source: string): Program {
  const pack = openPack(source, { file: "p.yaml" });
  if (!pack.ok) throw pack.toError();
  return pack.program;
}

const program = opened(text);
const START: StartInput = {
  type: "start",
  at: 1_000,
  digest: "d",
  mode: "autonomous",
  variables: {},
  input: "",
};

function runOf(decision: Decision): Run {
  if (decision.kind !== "facts") throw new Error(`not decided: ${JSON.stringify(decision)}`);
  return decision.run;
}

const after = (run: Run, input: Input): Run => runOf(decide(program, run, input));
const started = (start: Partial<StartInput> = {}): Run => after(emptyRun, { ...START, ...start });

const plain: ForkInput = {
  at: 50_000,
  from: { run: "r", turn: 1 },
  digest: "d",
  resetBudget: false,
  variables: {},
  artifacts: {},
  answers: [],
};

const fork = (run: Run, input: Partial<ForkInput> = {}, of = program): Decision =>
  decideFork(of, run, { ...plain, ...input });

const dueOf = (run: Run): readonly number[] =>
  Object.values(run.open).flatMap(({ ask }) => (ask.kind === "timer" ? [ask.due] : []));

const replyTo = (event: string) => ({
  ok: true as const,
  value: {
    text: "",
    calls: [{ id: "1", tool: "workflow__transition", args: { event } }],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  },
});

describe("S52: a fork", () => {
  test("shifts its clock: the time since the cut counts neither for the timer nor as spent", () => {
    const run = runOf(fork(started()));
    expect(run.now).toBe(50_000);
    expect(dueOf(run)).toEqual([150_000]);
    expect(run.now - run.startedAt).toBe(0);
  });

  test("never goes back in time, when its origin's clock was ahead", () => {
    expect(runOf(fork(started(), { at: 10 })).now).toBe(1_000);
  });

  test("with a reset budget has nothing spent and all of its time", () => {
    const spent = after(started(), { type: "answer", at: 61_000, step: 1, outcome: replyTo("Next") });
    expect(dueOf(runOf(fork(spent, { at: 70_000 })))).toEqual([110_000]);
    const run = runOf(fork(spent, { at: 70_000, resetBudget: true }));
    expect(dueOf(run)).toEqual([170_000]);
    expect(run.used).toMatchObject({ visits: 0, modelCalls: 0 });
    expect(run.visits, "max_visits is per run, not a budget").toEqual({ a: 1, b: 1 });
  });

  test("has no parent to answer to", () => {
    const run = runOf(fork(started({ parent: { run: "p", step: 4 } })));
    expect(run.parent).toBeNull();
    expect(run.forkedFrom).toEqual({ run: "r", turn: 1 });
  });

  test("makes all its edits in one turn, which folds to the decided run and can be decided again", () => {
    const origin = started();
    const answer = { step: 1, outcome: replyTo("Next") };
    const decision = fork(origin, {
      artifacts: { log: "x" },
      answers: [answer],
      event: "Next",
      variables: { k: 1 },
    });
    const run = runOf(decision);
    expect(run).toMatchObject({ turn: 2, state: "a", visits: { a: 2, b: 1 }, variables: { k: 1 } });
    const facts = decision.kind === "facts" ? decision.facts : [];
    const row: TurnRow = { turn: 2, at: 50_000, v: 1, facts };
    expect(fold([row], origin)).toEqual(run);
    expect(replayTurn(program, origin, row)).toBeUndefined();
  });

  test("whose chosen event finds no visit left ends, and that too can be decided again", () => {
    const second = after(started(), { type: "answer", at: 2_000, step: 1, outcome: replyTo("Next") });
    const back = after(second, { type: "answer", at: 3_000, step: second.step, outcome: replyTo("Next") });
    const decision = fork(back, { event: "Next" });
    expect(runOf(decision).final).toBe("budget_exhausted");
    const facts = decision.kind === "facts" ? decision.facts : [];
    expect(replayTurn(program, back, { turn: back.turn + 1, at: 50_000, v: 1, facts })).toBeUndefined();
  });

  test("is refused as a whole when one of its edits is", () => {
    expect(fork(started(), { artifacts: { none: "x" } })).toMatchObject({
      refusal: { code: "bad-artifact" },
    });
    expect(fork(started(), { event: "Nope" })).toMatchObject({ refusal: { allowed: ["Next", "End"] } });
    expect(fork(started(), { answers: [{ step: 9, outcome: replyTo("Next") }] })).toMatchObject({
      refusal: { code: "step-not-open", open: [1, 2] },
    });
    const cancelled = after(started(), { type: "cancel", at: 2_000, by: "alice", reason: "" });
    expect(fork(cancelled)).toMatchObject({ refusal: { code: "run-finished", status: "cancelled" } });
  });

  test("does not take a timer's answer before its time", () => {
    const answers = [{ step: 2, outcome: { ok: true as const, value: null } }];
    expect(fork(started(), { answers })).toMatchObject({ refusal: { code: "step-not-open" } });
  });
});

describe("S3: a fork to another pack", () => {
  const wider = opened(
    text
      .replace("max_total_visits: 10", "max_total_visits: 50")
      .replace("max_wall_time_sec: 100", "max_wall_time_sec: 900"),
  );
  const guarded = opened(`${text}metadata: { governance: { autonomy_level: acts_with_approval } }\n`);

  test("takes that pack's limits, and its timer with them", () => {
    const run = started();
    const pack = packOfFork(program, wider, run);
    const moved = runOf(fork(run, { pack, digest: "e" }, wider));
    expect(moved.limits).toMatchObject({ visits: 50, wallMs: 900_000 });
    expect(moved.digest).toBe("e");
    expect(dueOf(moved)).toEqual([950_000]);
  });

  test("keeps what was tightened for this run", () => {
    const run = started({ limits: { visits: 4 } });
    expect(packOfFork(program, wider, run).limits).toMatchObject({ visits: 4, wallMs: 900_000 });
  });

  test("gates what that pack gates, and what was gated before", () => {
    expect(packOfFork(program, guarded, started()).gated).toEqual(["pay"]);
    expect(packOfFork(program, wider, started({ gated: ["other"] })).gated).toEqual(["other"]);
  });
});
