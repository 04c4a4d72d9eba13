// The rules of semantics.md, by number.

import { describe, expect, test } from "vitest";
import { modelRequest } from "../../src/core/request.ts";
import { Play, program, scenario } from "./scenario.ts";

const head = 'id: s\nname: S\nversion: 1.0.0\ntemplate_engine: { version: v1, syntax: "{{variable}}" }\n';
const prompt = (extra = "") => `  p: { id: p, name: P, version: 1.0.0, system_template: Go.${extra} }\n`;
const tools = `tools:
  grep: { name: grep, description: Search, parameters: { type: object, properties: { q: { type: string } }, required: [q] } }
  read: { name: read, description: Read }
`;
const retry = `${head}prompts:
${prompt()}workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, max_visits: 3, on_max_visits: give_up, on_event: { Success: done, Error: work } }
    done: { prompt_task: p, terminal: true }
    give_up: { prompt_task: p, terminal: true }
`;

describe("entering", () => {
  scenario(
    "S6, S7: the fourth visit is diverted and only the state really entered is counted",
    retry,
    `
    start                     entered work#1 · asks model
    model emits Error         entered work#2 · asks model
    model emits Error         entered work#3 · asks model
    model emits Error         entered give_up#1 (limit of work) · asks model
    model says "sorry"        finished completed
  `,
  );

  scenario(
    "S8: a terminal state executes its prompt, then the run completes",
    retry,
    `
    start                     entered work#1 · asks model
    model emits Success       entered done#1 · asks model
    model says "all good"     finished completed
    model says "again"        ignored: the run is completed
  `,
  );

  scenario(
    "S7: a chain that reaches an exhausted state without a fallback ends the run",
    retry.replace("on_max_visits: give_up, ", ""),
    `
    start                     entered work#1 · asks model
    model emits Error         entered work#2 · asks model
    model emits Error         entered work#3 · asks model
    model emits Error         finished budget_exhausted (max_visits 3 work)
  `,
  );

  scenario(
    "S10: the visit budget counts the first entry",
    retry.replace("  entry: work", "  entry: work\n  engine: { budget: { max_total_visits: 2 } }"),
    `
    start                     entered work#1 · asks model
    model emits Error         entered work#2 · asks model
    model emits Success       finished budget_exhausted (max_total_visits 2 work)
  `,
  );
});

const withTools = retry
  .replace(
    "system_template: Go.",
    "system_template: Go., tools: [grep, read], tool_policy: { max_rounds: 2, max_tool_calls_per_turn: 3 }",
  )
  .replace("workflow:", `${tools}workflow:`);

describe("the model's turn", () => {
  scenario(
    "S18: a transition takes effect after all other calls of the response",
    withTools,
    `
    start                                          entered work#1 · asks model
    model calls read and emits Success             asks tool read
    tool read ok done                              entered done#1 · asks model
  `,
  );

  scenario(
    "S18: the first valid transition wins, the others get an error result",
    retry,
    `
    start                                          entered work#1 · asks model
    model emits Nope and emits Error and emits Success   error result: \`Nope\` is not an event of this state; expected one of Success, Error · error result: the run already moves on by \`Error\` · entered work#2 · asks model
  `,
  );

  scenario(
    "S16: after the last round of tools the model must conclude",
    withTools,
    `
    start                     entered work#1 · asks model
    model calls read          asks tool read
    tool read ok x            asks model
    model calls read          asks tool read
    tool read ok x            asks model to conclude
    model calls read          error result: no more tools can be called in this visit; conclude · nudges · asks model to conclude
    model says "hm"           waits for Success|Error
  `,
  );

  scenario(
    "S16: calls beyond max_tool_calls_per_turn get an error result",
    withTools,
    `
    start                                                       entered work#1 · asks model
    model calls read and calls read and calls read and calls read   error result: at most 3 calls are allowed in one visit · asks tool read · asks tool read · asks tool read
  `,
  );

  scenario(
    "S48: only listed tools, only with fitting arguments",
    withTools,
    `
    start                                 entered work#1 · asks model
    model calls rm and calls grep({q: 1})   error result: \`rm\` cannot be called here; offered are grep, read · error result: arguments do not fit \`grep\`: q: Instance type "number" is invalid. Expected "string". · asks model
  `,
  );

  scenario(
    "S11: a response whose calls do not all fit ends the run before any is dispatched",
    withTools.replace("  entry: work", "  entry: work\n  engine: { budget: { max_tool_calls: 1 } }"),
    `
    start                              entered work#1 · asks model
    model calls read and calls read    finished budget_exhausted (max_tool_calls 1 work)
  `,
  );

  scenario(
    "S19: an event as plain text, exact or by case, never a substring",
    retry,
    `
    start                            entered work#1 · asks model
    model says "Event: *error*."     entered work#2 · asks model
    model says "no Error here"       nudges · asks model
    model says "Error"               entered work#3 · asks model
  `,
  );

  scenario(
    "S20: one nudge, then the run waits for one of the events",
    retry,
    `
    start                     entered work#1 · asks model
    model says "thinking"     nudges · asks model
    model says "thinking"     waits for Success|Error
    event Success by bob      drops event · entered done#1 by bob · asks model
  `,
  );

  scenario(
    "S16: in a terminal state with nothing to call, the first answer is the last, whatever it calls",
    retry,
    `
    start                     entered work#1 · asks model
    model emits Success       entered done#1 · asks model
    model calls rm            error result: \`rm\` cannot be called here; no tool is offered here · finished completed
  `,
  );

  scenario(
    "S47: a tool's own error is a result for the model",
    withTools,
    `
    start                     entered work#1 · asks model
    model calls read          asks tool read
    tool read fails timeout   asks model
  `,
  );

  scenario(
    "a model that fails for good fails the run",
    retry,
    `
    start                     entered work#1 · asks model
    model-fails refusal       finished failed (refusal work)
  `,
  );
});

const gate = retry.replace(
  "done: { prompt_task: p, terminal: true }",
  "done: { prompt_task: p, orchestration: external, on_event: { Approved: give_up, Rejected: work } }",
);

describe("orchestration", () => {
  scenario(
    "S26, S27: an external state waits, and a wrong event changes nothing",
    gate,
    `
    start                     entered work#1 · asks model
    event Success             refused not-waiting (Success|Error)
    model emits Success       entered done#1 · waits for Approved|Rejected
    event Success             refused event-not-allowed (Approved|Rejected)
    event Rejected by bob     drops event · entered work#2 by bob · asks model
  `,
  );

  scenario(
    "S27: a message in an external state runs one model turn without the transition tool, then it waits again",
    gate,
    `
    start                     entered work#1 · asks model
    model emits Success       entered done#1 · waits for Approved|Rejected
    message what is it        drops event · asks model
    model emits Approved      error result: there is no transition from here · asks model
    model says "it is so"     waits for Approved|Rejected
  `,
  );

  scenario(
    "S28: in a hybrid state an outside event abandons the call in flight",
    gate.replace("orchestration: external", "orchestration: hybrid"),
    `
    start                     entered work#1 · asks model
    model emits Success       entered done#1 · asks model · waits for Approved|Rejected
    event Rejected by bob     drops model · drops event · entered work#2 by bob · asks model
  `,
  );

  scenario(
    "S27: a message is refused while a call of the last answer is pending, also where an event is not",
    withTools.replace(
      "done: { prompt_task: p, terminal: true }",
      "done: { prompt_task: p, orchestration: hybrid, on_event: { Approved: give_up } }",
    ),
    `
    start                     entered work#1 · asks model
    model emits Success       entered done#1 · asks model · waits for Approved
    model calls read          asks approval of read
    message what is it        refused not-waiting (Approved)
    approve 4                 asks tool read
    doubt 5                   in_doubt
    message what is it        refused not-waiting (Approved)
    event Approved            drops event · drops tool · entered give_up#1 by alice · asks model
  `,
    { gated: ["read"] },
  );

  scenario(
    "S28: a hybrid state is not nudged; it waits",
    gate.replace("orchestration: external", "orchestration: hybrid"),
    `
    start                     entered work#1 · asks model
    model emits Success       entered done#1 · asks model · waits for Approved|Rejected
    model says "hm"           
    event Approved            drops event · entered give_up#1 by alice · asks model
  `,
  );

  scenario(
    "S30: an event sent twice with one key is taken once",
    gate,
    `
    start                          entered work#1 · asks model
    model emits Success            entered done#1 · waits for Approved|Rejected
    event Rejected key=k1          drops event · entered work#2 by alice · asks model
    event Rejected key=k1          ignored: this event was taken already
  `,
  );

  scenario(
    "S9: terminal and external is a hand-off",
    retry.replace(
      "done: { prompt_task: p, terminal: true }",
      "done: { prompt_task: p, orchestration: external, terminal: true }",
    ),
    `
    start                     entered work#1 · asks model
    model emits Success       entered done#1 · handoff · finished completed
  `,
  );
});

const artifacts = retry.replace(
  "on_event: { Success",
  "artifacts: { note: { type: text/plain }, log: { type: application/json, mode: append } }, on_event: { Success",
);

describe("artifacts", () => {
  scenario(
    "S32, S33: declared names only, and JSON types hold JSON",
    artifacts,
    `
    start                                             entered work#1 · asks model
    model sets nope=1 and sets log={bad and sets note=hi and emits Error   error result: \`nope\` is not an artifact of this workflow; declared are note, log · error result: \`log\` has type application/json, and the text given is not JSON · wrote note="hi" · entered work#2 · asks model
  `,
  );

  scenario(
    "S35: a tool of the artifact's own name fills it",
    artifacts
      .replace("system_template: Go.", "system_template: Go., tools: [note]")
      .replace("workflow:", "tools: { note: { name: note, description: Note } }\nworkflow:"),
    `
    start                     entered work#1 · asks model
    model calls note          asks tool note
    tool note ok {n: 1}       wrote note="{\\"n\\":1}" · asks model
  `,
  );

  test("S35: a write by a model names the step of its answer, not the last step asked", () => {
    const timed = artifacts.replace(
      "  entry: work",
      "  entry: work\n  engine: { budget: { max_wall_time_sec: 60 } }",
    );
    const play = new Play(program(timed), {});
    play.say("start");
    play.say("model sets note=hi");
    const wrote = play.rows[1]?.facts.find((fact) => fact.type === "wrote");
    expect(wrote).toMatchObject({ artifact: "note", source: { kind: "model", step: 1 } });
  });

  scenario(
    "S30: an outside event may write first; a bad write refuses it whole",
    gate.replace(
      "work: { prompt_task: p,",
      "work: { prompt_task: p, artifacts: { note: { type: text/plain } },",
    ),
    `
    start                                        entered work#1 · asks model
    model emits Success                          entered done#1 · waits for Approved|Rejected
    event Approved with {other: 1}               refused bad-artifact
    event Approved with {note: fine}             wrote note="fine" · drops event · entered give_up#1 by alice · asks model
  `,
  );
});

describe("time", () => {
  const timed = retry.replace(
    "  entry: work",
    "  entry: work\n  engine: { budget: { max_wall_time_sec: 60 } }",
  );
  scenario(
    "S12: the timer fires while a call is in flight, whose late answer is ignored",
    timed,
    `
    start                     entered work#1 · asks model
    after 59 s, timer         ignored: the timer is not due
    after 1 s, timer          finished budget_exhausted (max_wall_time_sec 60 work)
    model emits Success       ignored: the run is budget_exhausted
  `,
  );

  scenario(
    "S12: an answer after the time ends the run even without the timer",
    timed,
    `
    start                            entered work#1 · asks model
    after 61 s, model emits Success   finished budget_exhausted (max_wall_time_sec 60 work)
  `,
  );

  scenario(
    "S12: with wall_clock active, waiting for people does not count",
    gate.replace(
      "  entry: work",
      "  entry: work\n  engine: { wall_clock: active, budget: { max_wall_time_sec: 60 } }",
    ),
    `
    start                              entered work#1 · asks model
    after 50 s, model emits Success    entered done#1 · waits for Approved|Rejected · drops timer
    after 900 s, event Rejected        drops event · entered work#2 by alice · asks model
    after 9 s, model emits Error       entered work#3 · asks model
    after 1 s, timer                   finished budget_exhausted (max_wall_time_sec 60 work)
  `,
  );
});

describe("correlation", () => {
  scenario(
    "S49: late, double, future and wrong answers",
    withTools,
    `
    start                     entered work#1 · asks model
    model calls read          asks tool read
    answer 1                  ignored: the step is answered already
    answer 7                  refused step-mismatch
    answer 2 grep             refused pending-tool-mismatch
    answer 2 read             asks model
    answer 2 read             ignored: the step is answered already
  `,
  );

  scenario(
    "S46: in doubt, the run waits for retry, a result or abort",
    withTools,
    `
    start                     entered work#1 · asks model
    model calls read          asks tool read
    retry 2                   refused pending-tool-mismatch
    doubt 2                   in_doubt
    retry 2                   retried
    doubt 2                   in_doubt
    answer 2 read             asks model
  `,
  );

  scenario(
    "S49: what is no model's answer does not answer a model",
    withTools,
    `
    start                     entered work#1 · asks model
    answer 1                  refused pending-tool-mismatch
    answer 1 read             refused pending-tool-mismatch
    model calls read          asks tool read
  `,
  );

  scenario(
    "S46: only calls can be in doubt",
    gate,
    `
    start                     entered work#1 · asks model
    doubt 1                   ignored: no call is pending there
    model emits Success       entered done#1 · waits for Approved|Rejected
    doubt 2                   ignored: no call is pending there
  `,
  );

  scenario(
    "S46: abort ends the run",
    withTools,
    `
    start                     entered work#1 · asks model
    model calls read          asks tool read
    doubt 2                   in_doubt
    abort 2                   finished failed (aborted)
  `,
  );
});

describe("approvals", () => {
  const gated = withTools;
  scenario(
    "S31: a gated call waits, and what was approved is what runs",
    gated,
    `
    start                     entered work#1 · asks model
    model calls read and calls grep({q: a})   asks approval of read · asks tool grep
    tool grep ok x            
    approve 2 0000            refused hash-mismatch
    approve 2                 asks tool read
    tool read ok x            asks model
  `,
    { gated: ["read"] },
  );

  scenario(
    "S31: a rejection is an error result for the model",
    gated,
    `
    start                     entered work#1 · asks model
    model calls read          asks approval of read
    reject too risky          asks model
  `,
    { gated: ["read"] },
  );
});

describe("agents", () => {
  const team = `${head}prompts:
${prompt(", tools: [scout]")}  scout: { id: scout, name: Scout, version: 1.0.0, system_template: Look. }
agents: { entry: p, members: { p: {}, scout: {} } }
workflow:
  version: 2
  entry: lead
  states:
    lead: { prompt_task: p, orchestration: hybrid, max_visits: 2, on_event: { More: lead, End: end } }
    end: { prompt_task: p, terminal: true }
`;
  scenario(
    "S43: an agent that is no longer waited for is stopped",
    team,
    `
    start                     entered lead#1 · asks model · waits for More|End
    model calls scout         asks agent scout
    event End                 drops event · drops agent · stop · entered end#1 by alice · asks model
  `,
  );

  scenario(
    "S43: the end of the run does not forget an agent that is still to be stopped",
    team,
    `
    start                     entered lead#1 · asks model · waits for More|End
    model calls scout         asks agent scout
    event More                drops event · drops agent · stop · entered lead#2 by alice · asks model · waits for More|End
    model calls scout         asks agent scout
    cancel                    finished cancelled (cancelled) · stop · stop
  `,
  );
});

describe("conversations", () => {
  scenario(
    "S2: the run yields to the user where control says so",
    gate.replace("orchestration: external, ", ""),
    `
    start                     entered work#1 · waits for a message
    message hello             drops message · asks model
    model says "hi"           waits for a message
    message go on             drops message · asks model
    model emits Success       entered done#1 · waits for a message
  `,
    { mode: "conversational" },
  );
});

describe("starting", () => {
  scenario(
    "S40: all missing variables are reported at once and nothing starts",
    retry.replace(
      "system_template: Go.",
      'system_template: "{{a}} {{b}}", variables: [{ name: a, type: string, required: true }, { name: b, type: number, required: true }]',
    ),
    `
    start                     refused bad-variables
  `,
  );

  scenario(
    "S13: limits from outside may only tighten",
    retry.replace("  entry: work", "  entry: work\n  engine: { budget: { max_total_visits: 2 } }"),
    `
    start                     refused bad-limit
  `,
    { limits: { visits: 3 } },
  );

  scenario(
    "S5: a pack without a workflow runs one prompt",
    `${head}prompts:\n${prompt()}`,
    `
    start                     asks model
    model says "done"         finished completed
  `,
  );

  test("S24: without a workflow the model is given the task all the same", () => {
    const single = program(`${head}prompts:\n${prompt()}`);
    const play = new Play(single, { input: "count the files" });
    play.say("start");
    const ask = { kind: "model", round: 1, nth: 0, tools: true } as const;
    expect(modelRequest(single, play.run, ask).messages).toEqual([{ role: "user", text: "count the files" }]);
  });
});
