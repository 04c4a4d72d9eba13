// The rules of compositions (S29): order and skipping, references, attempts, merging, the end.

import { describe, expect, test } from "vitest";
import { decide } from "../../src/core/decide.ts";
import { modelRequest } from "../../src/core/request.ts";
import { emptyRun } from "../../src/core/run.ts";
import { Play, program, scenario } from "./scenario.ts";

const head = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
fragments: { kind: '{"type":"object","required":["kind"]}' }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: "Go on with {{input}}." }
  q: { id: q, name: Q, version: 1.0.0, system_template: "About {{topic}}.", variables: [{ name: topic, type: string, required: true }], tools: [read, ship], tool_policy: { max_rounds: 2 } }
tools:
  read: { name: read, description: Read, parameters: { type: object, properties: { of: { type: string } } } }
  ship: { name: ship, description: Ship }
`;

const steps = (list: string, state = "terminal: true", more = "") => `${head}workflow:
  version: 2
  entry: work
  states:
    work: { orchestration: composition, composition: c, ${state} }
    end: { prompt_task: p, terminal: true }
compositions:
  c:
    version: 1${more}
    steps:
${list
  .trim()
  .split("\n")
  .map((line) => `      - ${line.trim()}`)
  .join("\n")}
`;

const moving = "on_event: { Done: end, Again: work }";

describe("order", () => {
  scenario(
    "S29: steps run one after the other, each with what it refers to",
    steps(`
      { id: get, kind: tool, tool: read, args: { of: "file \${input.file}" } }
      { id: sum, kind: prompt, prompt_task: p, input: { seen: "\${get.output.lines[1]}", all: "\${get.output}" } }
    `),
    `
    start                                    entered work#1 · composes {"file":"a"} · get begins · asks tool read
    tool read ok {"lines": [1, 2]}           get done · sum begins with {"seen":2,"all":{"lines":[1,2]}} · asks model to conclude
    model says "Two."                        sum done · composed "Two." · finished completed
  `,
    { variables: { file: "a" } },
  );

  scenario(
    "S29: of a branch's targets only the chosen one runs, and what depends on it",
    steps(`
      { id: gate, kind: branch, predicate: { path: "\${input.long}", op: equals, value: true }, then: cut, else: keep }
      { id: cut, kind: prompt, prompt_task: p }
      { id: polish, kind: prompt, prompt_task: p, depends_on: [cut], input: "\${cut.output}" }
      { id: keep, kind: prompt, prompt_task: p, input: kept }
      { id: join, kind: prompt, prompt_task: p, depends_on: [polish, keep], input: { a: "\${polish.output}", b: "\${keep.output}" } }
    `),
    `
    start                    entered work#1 · composes {"long":false} · gate done false · cut skipped · polish skipped · keep begins with "kept" · asks model to conclude
    model says "k"           keep done · join begins with {"a":null,"b":"k"} · asks model to conclude
    model says "j"           join done · composed "j" · finished completed
  `,
    { input: '{"long":false}' },
  );

  scenario(
    "S29: a branch without else goes on with the next step, and a step after a skipped one runs",
    steps(`
      { id: gate, kind: branch, predicate: { path: input.long, exists: true }, then: cut }
      { id: cut, kind: prompt, prompt_task: p }
      { id: last, kind: prompt, prompt_task: p, input: "text \${input} \${cut.output}." }
    `),
    `
    start                    entered work#1 · composes "short" · gate done false · cut skipped · last begins with "text short ." · asks model to conclude
    model says "l"           last done · composed "l" · finished completed
  `,
    { input: "short" },
  );

  scenario(
    "S29: targets of a branch that is skipped are skipped, and so is the step behind a decided one",
    steps(`
      { id: outer, kind: branch, predicate: { all_of: [] }, then: c, else: inner }
      { id: inner, kind: branch, predicate: { any_of: [] }, then: a, else: b }
      { id: a, kind: prompt, prompt_task: p }
      { id: b, kind: prompt, prompt_task: p }
      { id: c, kind: prompt, prompt_task: p }
    `),
    `
    start                    entered work#1 · composes "x" · outer done true · inner skipped · a skipped · b skipped · c begins with "x" · asks model to conclude
    model says "c"           c done · composed "c" · finished completed
  `,
    { input: "x" },
  );
});

describe("parallel steps", () => {
  const fan = (strategy: string, more = "") =>
    steps(`
      { id: fan, kind: parallel, branches: [{ id: a, kind: prompt, prompt_task: p }, { id: b, kind: tool, tool: read }], reduce: { strategy: ${strategy}, into: all }${more} }
    `);
  for (const [strategy, merged] of [
    ["append", '["A",1,2]'],
    ["replace", "[1,2]"],
    ["barrier", '{"a":"A","b":[1,2]}'],
  ] as const) {
    scenario(
      `S29: branches leave at once and are merged in their order by ${strategy}`,
      fan(strategy),
      `
      start                    entered work#1 · composes "x" · fan begins · a begins with "x" · asks model to conclude · b begins · asks tool read
      tool read ok [1, 2]      b done
      model says "A"           a done · fan done {"all":${merged}} · composed {"all":${merged}} · finished completed
    `,
      { input: "x" },
    );
  }

  scenario(
    "S29: a branch that fails lets the others finish, and then fails the run with every error",
    fan("append"),
    `
    start                    entered work#1 · composes "x" · fan begins · a begins with "x" · asks model to conclude · b begins · asks tool read
    tool read fails no       b failed (tool_error)
    status                   running
    model says "A"           a done · fan failed (branch_failed) · finished failed (step_failed work)
  `,
    { input: "x" },
  );

  scenario(
    "S29: with attempts left only the branches that failed are tried again",
    fan("barrier", ", modifiers: { retry: { max_attempts: 2 } }"),
    `
    start                    entered work#1 · composes "x" · fan begins · a begins with "x" · asks model to conclude · b begins · asks tool read
    tool read fails no       b failed (tool_error)
    model says "A"           a done · fan begins again · b begins · asks tool read
    tool read ok 1           b done · fan done {"all":{"a":"A","b":1}} · composed {"all":{"a":"A","b":1}} · finished completed
  `,
    { input: "x" },
  );
});

describe("attempts and schemas", () => {
  scenario(
    "S29: max_attempts counts all attempts at a tool",
    steps(`{ id: get, kind: tool, tool: read, modifiers: { retry: { max_attempts: 2 } } }`),
    `
    start                    entered work#1 · composes {} · get begins · asks tool read
    tool read fails no       get begins again · asks tool read
    tool read fails no       get failed (tool_error) · finished failed (step_failed work)
  `,
  );

  const kind = "{ id: sort, kind: prompt, prompt_task: p, output_schema: fragments.kind";
  scenario(
    "S29: an answer that does not fit its schema fails the step",
    steps(`${kind} }`),
    `
    start                    entered work#1 · composes {} · sort begins with {} · asks model to conclude
    model says "an invoice"   sort failed (bad_output) · finished failed (step_failed work)
  `,
  );

  scenario(
    "S29: with attempts left an answer is mended, and what broke is asked anew",
    steps(`
      ${kind}, modifiers: { retry: { max_attempts: 3 } } }
      { id: use, kind: prompt, prompt_task: p, input: "\${sort.output.kind}" }
    `),
    `
    start                    entered work#1 · composes {} · sort begins with {} · asks model to conclude
    model says "{}"          sort begins again to mend with {} · asks model to conclude
    model-fails http_500     sort begins again with {} · asks model to conclude
    model says "{"kind":"a"}"   sort done {"kind":"a"} · use begins with "a" · asks model to conclude
    model says "u"           use done · composed "u" · finished completed
  `,
  );

  test("S29: the schema is told, and a mending model sees its answer and the problem", () => {
    const play = new Play(program(steps(`${kind}, modifiers: { retry: { max_attempts: 2 } } }`)), {
      input: "doc",
    });
    play.say("start");
    play.say('model says "[]"');
    const [open] = Object.values(play.run.open);
    const request = open?.ask.kind === "model" ? modelRequest(play.program, play.run, open.ask) : undefined;
    expect(request?.system).toContain("Go on with doc.");
    expect(request?.system).toContain('{"type":"object","required":["kind"]}');
    expect(request?.tools).toEqual([]);
    expect(request?.messages.map((message) => ("text" in message ? message.text : ""))).toEqual([
      "doc",
      "[]",
      expect.stringContaining("does not fit `fragments.kind`"),
    ]);
  });

  scenario(
    "S29: a reference that leads nowhere fails the step at once, whatever attempts are left",
    steps(
      `{ id: get, kind: tool, tool: read, args: { of: "\${input.file}" }, modifiers: { retry: { max_attempts: 9 } } }`,
    ),
    "start                    entered work#1 · composes {} · get failed (unresolved) · finished failed (step_failed work)",
  );

  scenario(
    "S48: arguments that do not fit the tool fail the step",
    steps(`{ id: get, kind: tool, tool: read, args: { of: "\${input.n}" } }`),
    'start                    entered work#1 · composes {"n":1} · get failed (bad_arguments) · finished failed (step_failed work)',
    { input: '{"n":1}' },
  );

  scenario(
    "S29: ordering something that is no number fails the step",
    steps(`
      { id: gate, kind: branch, predicate: { path: "\${input.n}", op: less_than, value: 2 }, then: a }
      { id: a, kind: prompt, prompt_task: p }
    `),
    'start                    entered work#1 · composes {"n":"1"} · gate failed (bad_predicate) · finished failed (step_failed work)',
    { input: '{"n":"1"}' },
  );
});

describe("agents", () => {
  const agent = (termination: string, more = "") =>
    steps(
      `{ id: dig, kind: agent, prompt_task: q, input: { topic: "\${input}" }, termination: ${termination}${more} }`,
    );

  scenario(
    "S29: max_steps rounds of tools, then one last call without them",
    agent("{ max_steps: 1 }"),
    `
    start                    entered work#1 · composes "x" · dig begins with {"topic":"x"} · asks model
    model calls read and calls ship   asks tool read · asks tool ship
    tool ship ok 1           
    tool read ok 2           asks model to conclude
    model says "done" and calls read   error result: no more tools can be called in this visit; conclude · dig done · composed "done" · finished completed
  `,
    { input: "x" },
  );

  scenario(
    "S29: a good call of the terminating tool ends the step with its result, a failed one does not",
    agent("{ tool_called: ship }", ", tools: [ship]"),
    `
    start                    entered work#1 · composes "x" · dig begins with {"topic":"x"} · asks model
    model calls read         error result: \`read\` cannot be called here; offered are ship · asks model
    model calls ship         asks tool ship
    tool ship fails no       asks model to conclude
    model says "so"          dig done · composed "so" · finished completed
  `,
    { input: "x" },
  );

  scenario(
    "S29: what the tool gave is the output when the model said nothing with its last call",
    agent("{ tool_called: ship }"),
    `
    start                    entered work#1 · composes "x" · dig begins with {"topic":"x"} · asks model
    model calls ship         asks tool ship
    tool ship ok {"id": 7}   dig done {"id":7} · composed {"id":7} · finished completed
  `,
    { input: "x" },
  );

  scenario(
    "S31: a gated tool of a step waits for a person, who may edit the call",
    steps("{ id: out, kind: tool, tool: ship, args: { to: a } }"),
    `
    start                    entered work#1 · composes {} · out begins · asks approval of ship
    approve 1 edit {"to": "b"}   asks approval of ship
    approve                  asks tool ship
    tool ship ok 1           out done · composed 1 · finished completed
  `,
    { gated: ["ship"] },
  );

  scenario(
    "S11: a call that waits for approval is promised, so another one beside it does not fit",
    steps(`
      { id: fan, kind: parallel, branches: [{ id: a, kind: tool, tool: ship }, { id: b, kind: tool, tool: read }], reduce: { strategy: append, into: all } }
    `),
    "start                    entered work#1 · composes {} · fan begins · a begins · asks approval of ship · finished budget_exhausted (max_tool_calls 1 work)",
    { gated: ["ship"], limits: { toolCalls: 1 } },
  );

  scenario(
    "S31: what a person has rejected is not asked of them again, whatever may be retried",
    steps(`
      { id: fan, kind: parallel, branches: [{ id: a, kind: tool, tool: ship, modifiers: { retry: { max_attempts: 3 } } }, { id: b, kind: tool, tool: read }], reduce: { strategy: append, into: all }, modifiers: { retry: { max_attempts: 2 } } }
    `),
    `
    start                    entered work#1 · composes {} · fan begins · a begins · asks approval of ship · b begins · asks tool read
    reject never             a failed (rejected)
    tool read ok 1           b done · fan failed (rejected) · finished failed (step_failed work)
  `,
    { gated: ["ship"] },
  );

  scenario(
    "S13: what steps that run side by side will cost is reserved for each of them",
    steps(`
      { id: one, kind: prompt, prompt_task: p }
      { id: fan, kind: parallel, branches: [{ id: a, kind: prompt, prompt_task: p }, { id: b, kind: prompt, prompt_task: p }, { id: c, kind: prompt, prompt_task: p }], reduce: { strategy: append, into: all } }
    `),
    `
    start                    entered work#1 · composes "x" · one begins with "x" · asks model to conclude
    model says "1"           one done · fan begins · a begins with "x" · asks model to conclude · b begins with "x" · asks model to conclude · c begins with "x" · finished budget_exhausted (max_input_tokens 30 work)
  `,
    { input: "x", limits: { inputTokens: 30 } },
  );

  scenario(
    "S31: a rejected call fails a tool step, and an agent is told of it",
    steps(`
      { id: dig, kind: agent, prompt_task: q, input: { topic: x }, termination: { max_steps: 3 } }
      { id: out, kind: tool, tool: ship }
    `),
    `
    start                    entered work#1 · composes {} · dig begins with {"topic":"x"} · asks model
    model calls ship         asks approval of ship
    reject no                asks model
    model says "well"        dig done · out begins · asks approval of ship
    reject no                out failed (rejected) · finished failed (step_failed work)
  `,
    { gated: ["ship"] },
  );

  test("S40: what a step fills in need not be given for the run, other variables must", () => {
    const given = program(agent("{ max_steps: 1 }"));
    const start = {
      type: "start",
      at: 1,
      digest: "d",
      mode: "autonomous",
      variables: {},
      input: "x",
    } as const;
    expect(decide(given, emptyRun, start).kind).toBe("facts");
    const bare = program(steps("{ id: dig, kind: prompt, prompt_task: q }"));
    expect(decide(bare, emptyRun, start)).toMatchObject({ refusal: { code: "bad-variables" } });
  });
});

describe("the end", () => {
  scenario(
    "S29: an output that names an event is followed, with its context",
    steps("{ id: sort, kind: prompt, prompt_task: p, output_schema: fragments.kind }", moving),
    `
    start                    entered work#1 · composes {} · sort begins with {} · asks model to conclude
    model says "{"kind":1,"event":"Again","context":"{\\"n\\":2}"}"   sort done {"kind":1,"event":"Again","context":"{\\"n\\":2}"} · composed {"kind":1,"event":"Again","context":"{\\"n\\":2}"} · entered work#2 · composes {"n":2} · sort begins with {"n":2} · asks model to conclude
    model says "{"kind":1,"event":"Nope"}"   sort done {"kind":1,"event":"Nope"} · composed {"kind":1,"event":"Nope"} · waits for Done|Again
    event Done               drops event · entered end#1 by alice · asks model
    model says "end"         finished completed
  `,
  );

  scenario(
    "S29: a text may be the event; a message gives a waiting composition a new input",
    steps("{ id: say, kind: prompt, prompt_task: p }", moving),
    `
    start                    entered work#1 · composes "x" · say begins with "x" · asks model to conclude
    model says "hm"          say done · composed "hm" · waits for Done|Again
    message {"n": 1}         drops event · composes {"n":1} · say begins with {"n":1} · asks model to conclude
    model says "**done**"    say done · composed "**done**" · entered end#1 · asks model
  `,
    { input: "x" },
  );

  scenario(
    "S29: an output that names a skipped step fails the run",
    steps(
      `
      { id: gate, kind: branch, predicate: { any_of: [] }, then: a }
      { id: a, kind: prompt, prompt_task: p }
      { id: b, kind: tool, tool: read }
    `,
      "terminal: true",
      "\n    output: a",
    ),
    `
    start                    entered work#1 · composes {} · gate done false · a skipped · b begins · asks tool read
    tool read ok 1           b done · finished failed (bad_output work)
  `,
  );

  const two = (second: string) =>
    steps(`
      { id: a, kind: prompt, prompt_task: p }
      ${second}
    `);
  scenario(
    "S52: a fork onto a pack goes on in the same steps, those to come may be others",
    two("{ id: b, kind: prompt, prompt_task: p }"),
    `
    start                    entered work#1 · composes "x" · a begins with "x" · asks model to conclude
    fork onto another        
    model says "A"           a done · c begins · asks tool read
  `,
    { input: "x", another: two("{ id: c, kind: tool, tool: read }") },
  );

  scenario(
    "S52: a fork onto a pack that has other steps for what is under way is refused",
    two("{ id: b, kind: prompt, prompt_task: p }"),
    `
    start                    entered work#1 · composes "x" · a begins with "x" · asks model to conclude
    fork onto another        refused unsupported
  `,
    { input: "x", another: steps("{ id: b, kind: prompt, prompt_task: p }") },
  );

  test("S29: an answer in a fence is read, and one that never ends it is told at once", () => {
    const of = program(steps("{ id: a, kind: prompt, prompt_task: p, output_schema: fragments.kind }"));
    const answered = (text: string) => {
      const play = new Play(of, {});
      play.say("start");
      const [step] = Object.keys(play.run.open).map(Number);
      const value = { text, calls: [], usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 } };
      return decide(of, play.run, {
        type: "answer",
        at: 2_000,
        step: step ?? 0,
        outcome: { ok: true, value },
      });
    };
    const part = (is: string) => ({
      facts: expect.arrayContaining([expect.objectContaining({ what: "part", is })]),
    });
    const newlines = "\n".repeat(200_000);
    expect(answered(`\`\`\`json\n{"kind":${newlines}1}\n\`\`\``)).toMatchObject(part("done"));
    expect(answered(`\`\`\`json${newlines}x`)).toMatchObject(part("failed"));
  });

  test.for([
    ['{"$ref":"#/$defs/nope"}', "`#/$defs/nope` in it leads nowhere"],
    ['{"properties":{"a":{"pattern":"("}}}', "`(` in it is no regular expression"],
    ['{"items":{"$ref":"https://example.org/x"}}', "`https://example.org/x` in it leads nowhere"],
  ] as const)("S29: a schema by which nothing can be judged is refused at the start: %s", ([schema, why]) => {
    const of = program(
      steps("{ id: a, kind: prompt, prompt_task: p, output_schema: fragments.kind }").replace(
        '{"type":"object","required":["kind"]}',
        schema,
      ),
    );
    const started = decide(of, emptyRun, {
      type: "start",
      at: 1,
      digest: "d",
      mode: "autonomous",
      variables: {},
      input: "",
    });
    expect(started).toMatchObject({
      kind: "refused",
      refusal: { code: "unsupported", what: expect.stringContaining(why) },
    });
  });

  const digs = (kind: string) => steps(`{ id: a, kind: ${kind}, prompt_task: q, input: { topic: x } }`);
  scenario(
    "S52: a fork onto a pack in which the step that waits for a call makes none is refused",
    digs("agent, termination: { max_steps: 2 }"),
    `
    start                    entered work#1 · composes {} · a begins with {"topic":"x"} · asks model
    model calls read         asks tool read
    fork onto another        refused unsupported
  `,
    { another: digs("prompt") },
  );

  scenario(
    "S52: a composition that was given the variables goes on with those of the fork",
    two('{ id: b, kind: prompt, prompt_task: p, input: "${input.file}" }'),
    `
    start                    entered work#1 · composes {"file":"old"} · a begins with {"file":"old"} · asks model to conclude
    fork with file new       
    model says "A"           a done · b begins with "new" · asks model to conclude
  `,
    { variables: { file: "old" } },
  );

  test.for([
    ["{ id: a, kind: acme.rank }", "has kind `acme.rank`, which packloop does not run"],
    [
      "{ id: a, kind: parallel, branches: [{ id: b, kind: tool, tool: read }, { id: c, kind: tool, tool: read }], reduce: { strategy: vote, into: x } }",
      "merges by `vote` (packloop knows append, replace, barrier)",
    ],
    ["{ id: a, kind: prompt, prompt_task: p, output_schema: gone.json }", "wants the schema `gone.json`"],
  ] as const)("S29: what cannot be run is refused at the start: %s", ([step, why]) => {
    const start = {
      type: "start",
      at: 1,
      digest: "d",
      mode: "autonomous",
      variables: {},
      input: "",
    } as const;
    const decision = decide(program(steps(step)), emptyRun, start);
    expect(decision).toMatchObject({ kind: "refused", refusal: { code: "unsupported" } });
    expect(JSON.stringify(decision)).toContain(why);
  });
});
