// What a caller promises to its agents counts as used until they have said what they came to (S13, S43).

import { describe, expect, test } from "vitest";
import { fold } from "../../src/core/apply.ts";
import { decide } from "../../src/core/decide.ts";
import type { Fact, TurnRow } from "../../src/core/facts.ts";
import { grantFor } from "../../src/core/grant.ts";
import { replayTurn } from "../../src/core/replay.ts";
import { emptyRun } from "../../src/core/run.ts";
import { Play, program, scenario } from "./scenario.ts";

const pack = (states: string, more = "") => `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  lead: { id: lead, name: L, version: 1.0.0, system_template: Lead., tools: [scout, read] }
  scout: { id: scout, name: S, version: 1.0.0, system_template: Look. }
tools:
  read: { name: read, description: Read }
agents: { entry: lead, members: { lead: {}, scout: {} } }
workflow:
  version: 2
  entry: work
  states:
${states}
${more}`;

const alone = pack("    work: { prompt_task: lead, terminal: true }");
const hybrid = pack(`    work: { prompt_task: lead, orchestration: hybrid, on_event: { End: end } }
    end: { prompt_task: lead, terminal: true }`);
const beside = (...branches: readonly string[]) =>
  pack(
    "    work: { orchestration: composition, composition: c, terminal: true }",
    `compositions:
  c:
    version: 1
    steps:
      - id: all
        kind: parallel
        reduce: { strategy: append, into: all }
        branches:
${branches.map((branch) => `          - ${branch}`).join("\n")}
`,
  );

const digs = (id: string) => `{ id: ${id}, kind: agent, prompt_task: lead, termination: { max_steps: 4 } }`;
const calls = (id: string) => `{ id: ${id}, kind: tool, tool: scout, args: { query: it } }`;
const says = (id: string) => `{ id: ${id}, kind: prompt, prompt_task: scout }`;

describe("agents of one round", () => {
  scenario(
    "S43: share what is left, and what they do not use comes back",
    alone,
    `
    start                                              entered work#1 · asks model
    model calls scout and calls read and calls scout   asks agent scout with 3 · asks tool read · asks agent scout with 3
    tool read ok 1
    agent 2 spent 1
    agent 4 spent 2                                    asks model
    model calls scout                                  asks agent scout with 2
    agent 6 failed after 2                             finished budget_exhausted (max_model_calls 7 work)
  `,
    { limits: { modelCalls: 7 } },
  );

  scenario(
    "S43: get nothing where too little is left for each, which is an error of the call",
    alone,
    `
    start                                entered work#1 · asks model
    model calls scout and calls scout    asks agent scout with 0 · asks agent scout with 1
    agent 2 failed after 0
    agent 3 spent 1                      finished budget_exhausted (max_model_calls 2 work)
  `,
    { limits: { modelCalls: 2 } },
  );

  scenario(
    "S43: one that waits for approval will want its share",
    alone,
    `
    start                                entered work#1 · asks model
    model calls scout and calls scout    asks approval of scout · asks approval of scout
    approve 2                            asks agent scout with 3
    approve 3                            asks agent scout with 3
    agent 4 spent 3
    agent 5 spent 2                      asks model
  `,
    { limits: { modelCalls: 7 }, gated: ["scout"] },
  );

  scenario(
    "S13: tokens and cost are shared like calls",
    alone,
    `
    start                                entered work#1 · asks model
    model calls scout and calls scout    asks agent scout with 20/7/0.245 · asks agent scout with 20/8/0.245
  `,
    { limits: { inputTokens: 50, outputTokens: 20, costUsd: 0.5 } },
  );
});

describe("beside each other", () => {
  scenario(
    "S43: an agent leaves the steps beside it their share, and one called later takes no more than that",
    beside(digs("a"), digs("b")),
    `
    start                       entered work#1 · composes {} · all begins · a begins with {} · asks model · b begins with {} · asks model
    model @a calls scout        asks agent scout with 4
    model @b calls scout        asks agent scout with 4
    agent 3 spent 1             asks model
    agent 4 spent 4             asks model
    model @a says "x"           a done
    model @b says "y"           b done · all done {"all":["x","y"]} · composed {"all":["x","y"]} · finished completed
  `,
    { limits: { modelCalls: 10 } },
  );

  scenario(
    "S43: agents that steps call at once share what is left",
    beside(calls("a"), calls("b"), says("c")),
    `
    start                  entered work#1 · composes {} · all begins · a begins · asks agent scout with 3 · b begins · asks agent scout with 3 · c begins with {} · asks model to conclude
    agent 1 spent 3        a done
    status                 running
  `,
    { limits: { modelCalls: 9 } },
  );

  scenario(
    "S13: a question that does not fit beside an agent waits for what the agent brings back",
    beside(digs("a"), digs("b")),
    `
    start                       entered work#1 · composes {} · all begins · a begins with {} · asks model · b begins with {} · asks model
    model @a calls scout        asks agent scout with 2
    model @b calls read         asks tool read
    tool read ok 1              asks model
    model @b calls read         asks tool read
    tool read ok 1              asks model
    model @b calls read         asks tool read
    tool read ok 1              stalled
    status                      running
    defer 3                     deferred
    status                      waiting
    agent 3 spent 0             asks model · asks model
  `,
    { limits: { modelCalls: 6 } },
  );

  scenario(
    "S13: and ends the run when the agent has used all of it",
    beside(digs("a"), digs("b")),
    `
    start                       entered work#1 · composes {} · all begins · a begins with {} · asks model · b begins with {} · asks model
    model @a calls scout        asks agent scout with 1
    model @b calls read         asks tool read
    tool read ok 1              asks model
    model @b calls read         asks tool read
    tool read ok 1              stalled
    agent 3 spent 1             finished budget_exhausted (max_model_calls 4 work)
  `,
    { limits: { modelCalls: 4 } },
  );
});

describe("an agent that is given up", () => {
  scenario(
    "S43: holds what it was granted until it has said what it came to",
    hybrid,
    `
    start                   entered work#1 · asks model · waits for End
    model calls scout       asks agent scout with 4
    event End               drops event · drops agent · stop · entered end#1 by alice · stalled
    status                  running
    message hello            refused not-waiting ()
    agent 3 failed after 2   asks model
    agent 3 failed after 2   ignored: the step is answered already
    model calls scout        asks agent scout with 1
  `,
    { limits: { modelCalls: 5 } },
  );

  scenario(
    "S43: also when somebody answers in its place, who cannot pay for it",
    alone,
    `
    start                   entered work#1 · asks model
    model calls scout       asks agent scout with 2
    bob says 2 never mind   stop · stalled
    bob says 3 never mind   refused pending-tool-mismatch
    answer 3                refused pending-tool-mismatch
    agent 2 spent 2         finished budget_exhausted (max_model_calls 3 work)
  `,
    { limits: { modelCalls: 3 } },
  );

  scenario(
    "S43: also when the answer in its place names nobody",
    alone,
    `
    start                   entered work#1 · asks model
    model calls scout       asks agent scout with 2
    answer 2 scout          stop · stalled
    agent 2 spent 1         asks model
  `,
    { limits: { modelCalls: 3 } },
  );

  scenario(
    "S52: holds nothing in a fork, for it is the origin's",
    hybrid,
    `
    start                   entered work#1 · asks model · waits for End
    model calls scout       asks agent scout with 4
    event End               drops event · drops agent · stop · entered end#1 by alice · stalled
    fork                    asks model
    model says "done"       finished completed
  `,
    { limits: { modelCalls: 5 } },
  );

  scenario(
    "S43: is stopped when the run ends, and still says what it came to",
    hybrid,
    `
    start                   entered work#1 · asks model · waits for End
    model calls scout       asks agent scout with 4
    cancel                  finished cancelled (cancelled) · stop
    agent 3 failed after 2
    agent 3 failed after 2   ignored: the run is cancelled
  `,
    { limits: { modelCalls: 5 } },
  );
});

describe("a journal that knows no grants", () => {
  const play = new Play(program(alone), { limits: { modelCalls: 7 } });
  for (const line of ["start", "model calls scout and calls scout", "agent 2 spent 1"]) play.say(line);
  const withoutGrant = (fact: Fact): Fact => {
    if (fact.type !== "asked" || fact.ask.kind !== "agent") return fact;
    const { grant: _grant, ...ask } = fact.ask;
    return { ...fact, ask };
  };
  const rows: readonly TurnRow[] = play.rows.map((row) => ({ ...row, facts: row.facts.map(withoutGrant) }));

  test("is decided the same again", () => {
    let run = emptyRun;
    for (const row of rows) {
      expect(replayTurn(play.program, run, row)).toBeUndefined();
      run = fold([row], run);
    }
    expect(run.usedByAgents).toMatchObject({ modelCalls: 1 });
  });

  test("shares what is left among the agents that it waits for", () => {
    expect(grantFor(fold(rows.slice(0, 2)), 2)).toEqual({ modelCalls: 3 });
    expect(grantFor(fold(rows.slice(0, 3)), 3)).toEqual({ modelCalls: 5 });
  });

  test("a grant that was another is named", () => {
    const other = play.rows.map((row) => ({
      ...row,
      facts: row.facts.map((fact): Fact => {
        if (fact.type !== "asked" || fact.ask.kind !== "agent") return fact;
        return { ...fact, ask: { ...fact.ask, grant: { modelCalls: 9 } } };
      }),
    }));
    expect(replayTurn(play.program, fold(other.slice(0, 1)), other[1] as TurnRow)).toMatchObject({ turn: 2 });
  });
});

test("S13: a fork onto a pack that allows less starts its agents with no more than that", () => {
  const given = new Play(program(alone), { limits: { modelCalls: 9 } });
  for (const line of ["start", "model calls scout and calls scout"]) given.say(line);
  const tighter = { ...given.run, limits: { ...given.run.limits, modelCalls: 6 } };
  expect([2, 3].map((step) => grantFor(tighter, step))).toEqual([{ modelCalls: 4 }, { modelCalls: 1 }]);
});

test("S13: a fork onto a pack that limits something else shares it among the agents that were promised none", () => {
  const given = new Play(program(alone), { limits: { modelCalls: 9 } });
  for (const line of ["start", "model calls scout and calls scout"]) given.say(line);
  const other = { ...given.run, limits: { ...given.run.limits, costUsd: 1 + given.run.used.costUsd } };
  expect([2, 3].map((step) => grantFor(other, step).costUsd)).toEqual([0.5, 0.5]);
});

test("S43: an agent that is given up before it began takes its name, whatever variables it lacks", () => {
  const wanting = alone.replace(
    "system_template: Look.",
    'system_template: "{{what}}", variables: [{ name: what, type: string, required: true }]',
  );
  const cancelled = { by: "r", reason: "its caller no longer waits for it" };
  const terms = {
    type: "start",
    at: 1,
    digest: "d",
    mode: "autonomous",
    input: "",
    prompt: "scout",
  } as const;
  const parent = { run: "r", step: 2 };
  const given = { ...terms, variables: {}, parent };
  expect(decide(program(wanting), emptyRun, given).kind).toBe("refused");
  const decision = decide(program(wanting), emptyRun, { ...given, cancelled });
  expect(decision).toMatchObject({ kind: "facts", run: { final: "cancelled" } });
  const facts = decision.kind === "facts" ? decision.facts : [];
  expect(replayTurn(program(wanting), emptyRun, { turn: 1, at: 1, v: 1, facts })).toBeUndefined();
});
