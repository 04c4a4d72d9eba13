// `packloop test` with files of the reference runtime: mock responses as the model, Scenarios as tests.

import { describe, expect, test } from "vitest";
import { folderWith, packloop, type Ran } from "./run-cli.ts";

const pack = `id: desk
name: Desk
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  intake:
    id: intake
    name: Intake
    version: 1.0.0
    system_template: Find out what {{customer}} needs.
    tools: [look_up]
    variables: [{ name: customer, type: string, required: true }]
    validators: [{ type: banned_words, enabled: true, params: { words: [idiot] } }]
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
tools:
  look_up:
    { name: look_up, description: Looks up, parameters: { type: object, properties: { id: { type: string } } } }
workflow:
  version: 2
  entry: intake
  states:
    intake: { prompt_task: intake, on_event: { Solved: close } }
    close: { prompt_task: close, terminal: true }
`;

const mock = `defaultResponse: I do not know.
scenarios:
  refund:
    turns:
      1: What is your order number?
      2:
        content: Let me look.
        tool_calls: [{ name: look_up, arguments: { id: "42" } }]
      3: { tool_calls: [{ name: workflow__transition, arguments: { event: Solved, context: refunded } }] }
      4: { response: Goodbye. }
  short:
    defaultResponse: Hm.
    turns: { 1: { text: Hello } }
  pictures: { turns: { 1: { parts: [{ type: image, image_url: { url: "mock://x.png" } }] } } }
`;

const scenario = (spec: string, name = "refund") => `apiVersion: promptkit.altairalabs.ai/v1alpha1
kind: Scenario
metadata: { name: ${name} }
spec:
  id: ${name}
  task_type: intake
  variables: { customer: Ann }
${spec.replaceAll(/^/gm, "  ")}
`;

const turns = (first: string, second: string) => `turns:
  - role: user
    content: I want a refund.
    assertions: [${first}]
  - role: user
    content: It is 42.
    assertions: [${second}]
`;

const asksFirst = "{ type: content_includes, params: { patterns: [order number] } }";
const looksUp = "{ type: tools_called, params: { tool_names: [look_up] } }";
const complete =
  "conversation_assertions: [{ type: transitioned_to, params: { state: close } }, { type: workflow_complete }]";

const tools = "{ tools: { look_up: [{ ok: { total: 3 } }] } }";

/** One test that plays a Scenario with the mock of the same name. */
function playing(text: string, more = ""): Ran {
  const file = `pack: desk.pack.yaml\ntests:\n  - name: a\n    scenario: s.yaml\n    mock: mock.yaml\n    script: ${tools}\n${more}`;
  using folder = folderWith({
    "desk.pack.yaml": pack,
    "mock.yaml": mock,
    "s.yaml": text,
    "a.test.yaml": file,
  });
  return packloop(["test"], { cwd: folder.path });
}

describe("a Scenario", () => {
  test("is played turn by turn, each judged by what happened in it", () => {
    expect(playing(scenario(turns(asksFirst, looksUp) + complete))).toMatchObject({ code: 0, stderr: "" });
    const swapped = playing(scenario(turns(looksUp, asksFirst) + complete));
    expect(swapped.code).toBe(1);
    expect(swapped.stdout).toContain("check `tools_called`\n      expected tools_called");
    expect(swapped.stdout).toContain("was      no call\n      at s.yaml:11:20");
    expect(swapped.stdout).toContain("check `content_includes`");
    expect(swapped.stdout).toContain("at s.yaml:14:20");
  });

  test("names the entries of the mock file that the last calls took", () => {
    const ran = playing(
      scenario(turns(asksFirst, "{ type: tools_not_called, params: { tools: [look_up] } }")),
    );
    expect(ran.stdout).toContain(
      [
        "    entries of the mock file",
        "        model call 1 in intake: scenarios.refund.turns.1",
        "        model call 2 in intake: scenarios.refund.turns.2",
        "        model call 3 in intake: scenarios.refund.turns.3",
        "        model call 4 in close: scenarios.refund.turns.4",
        "",
      ].join("\n"),
    );
  });

  test("with an assertion that cannot be judged does not pass", () => {
    const judged = "{ type: llm_judge, params: { criteria: is kind }, message: be kind }";
    const ran = playing(scenario(turns(asksFirst, judged)));
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain(
      "check `llm_judge` (be kind) cannot be judged: packloop test does not judge this type\n      at s.yaml:14:20",
    );
  });

  test.each([
    [
      "trials",
      `${turns(asksFirst, looksUp)}trials: 3`,
      "`trials` cannot be judged: packloop test does not play it",
    ],
    [
      "a simulated user",
      `turns: [{ role: gemini-user, persona: angry, assertions: [${asksFirst}] }]`,
      "`persona` cannot be judged: packloop test does not play it",
    ],
    [
      "a score",
      turns("{ type: assertion, params: { eval_type: contains, min_score: 0.5 } }", looksUp),
      "check `assertion` cannot be judged",
    ],
    [
      "an unknown condition",
      turns("{ type: contains, params: { patterns: [order] }, when: { moon: full } }", looksUp),
      "its condition `moon` is not known",
    ],
  ])("that asks for %s does not pass", (_what, spec, message) => {
    const ran = playing(scenario(spec));
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain(message);
  });

  test("judges inside the wrapper, and only when its condition holds", () => {
    const wrapped =
      "{ type: assertion, params: { eval_type: contains, eval_params: { patterns: [order] }, min_score: 1.0 } }";
    const idle = "{ type: contains, params: { patterns: [zebra] }, when: { tool_called: shout } }";
    const due =
      "{ type: contains, params: { patterns: [zebra] }, when: { tool_called: look_up, min_tool_calls: 1 } }";
    expect(playing(scenario(turns(wrapped, idle))).code).toBe(0);
    expect(playing(scenario(turns(wrapped, due))).code).toBe(1);
  });

  test("may be given by itself, with its pack and mock on the command line", () => {
    using folder = folderWith({
      "desk.pack.yaml": pack,
      "mock.yaml": mock,
      "s.yaml": scenario(`${turns(asksFirst, "")}tool_policy: { max_rounds: 9 }\n${complete}`),
    });
    const args = ["test", "s.yaml", "--pack", "desk.pack.yaml", "--mock", "mock.yaml"];
    expect(packloop(args, { cwd: folder.path })).toMatchObject({ code: 0 });
    const alone = packloop(["test", "s.yaml"], { cwd: folder.path });
    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain("a Scenario is played with --pack FILE and --mock FILE");
  });

  test("that ends before its last turn fails", () => {
    const three = `${turns(asksFirst, looksUp)}  - { role: user, content: Thanks. }\n`;
    const ran = playing(scenario(three));
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain("turn 3 of the user was never said");
  });

  test("with an unknown key is not used", () => {
    const ran = playing(scenario(`${turns(asksFirst, looksUp)}conversation_assertion: []`));
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain(
      "unknown key `conversation_assertion` (did you mean `conversation_assertions`?)",
    );
  });
});

describe("mock responses", () => {
  /** One test without a Scenario. */
  function mocked(played: string, rest: string, text = mock): Ran {
    const file = `pack: desk.pack.yaml\nvariables: { customer: Ann }\ntests:\n  - name: refund\n    mock: ${played}\n    script: ${tools}\n    ${rest.replaceAll("\n", "\n    ")}\n`;
    using folder = folderWith({ "desk.pack.yaml": pack, "mock.yaml": text, "a.test.yaml": file });
    return packloop(["test"], { cwd: folder.path });
  }

  test("play the model of any test, in the order of its calls", () => {
    const talk = "mode: conversational\ninput: hi\npeople: [{ say: 42 it is }]\n";
    const end = "expect: { path: intake → close, output: Goodbye. }";
    expect(mocked("{ file: mock.yaml, scenario: refund }", talk + end)).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(mocked("{ file: mock.yaml }", talk + end).code).toBe(0);
  });

  test("fall back on the scenario's default, then on the file's, and otherwise fail the run", () => {
    const twice = "mode: conversational\ninput: hi\npeople: [{ say: and? }]\n";
    const short = "{ file: mock.yaml, scenario: short }";
    expect(
      mocked(short, `${twice}expect: { checks: [{ type: contains_any, params: { patterns: [Hm.] } }] }`).code,
    ).toBe(0);
    const other = mock.replace("    defaultResponse: Hm.\n", "");
    const expected = "expect: { checks: [{ type: contains_any, params: { patterns: [I do not know.] } }] }";
    expect(mocked(short, twice + expected, other).code).toBe(0);
    const none = mocked(
      short,
      `${twice}expect: { status: waiting }`,
      other.replace(/^defaultResponse.*\n/, ""),
    );
    expect(none.code).toBe(1);
    expect(none.stdout).toContain("`mock.yaml` has no turn 2 and no default for scenario `short`");
    expect(none.stdout).toContain("model call 2 in intake: there was none");
  });

  test.each([
    [
      "a scenario that is not there",
      "{ file: mock.yaml, scenario: refun }",
      "mock.yaml:2:1: there is no scenario `refun` (did you mean `refund`?)",
    ],
    [
      "no scenario among several",
      "mock.yaml",
      "mock.yaml:2:1: say which scenario is played (refund, short, pictures)",
    ],
    ["pictures", "{ file: mock.yaml, scenario: pictures }", "only parts of type text can be played here"],
    ["a file that is not there", "none.yaml", "a.test.yaml:5:5: cannot open `none.yaml` (no such file)"],
  ])("with %s are not used", (_what, played, message) => {
    const ran = mocked(played, "expect: { status: completed }");
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(message);
  });

  test("are heard by validators", () => {
    const rude = mock.replace("What is your order number?", "You idiot.");
    const fired =
      "{ type: guardrail_triggered, params: { validator_type: banned_words, direction: output } }";
    const talk = "mode: conversational\ninput: hi\n";
    const played = "{ file: mock.yaml, scenario: refund }";
    expect(mocked(played, `${talk}expect: { checks: [${fired}] }`, rude).code).toBe(0);
    expect(mocked(played, `${talk}expect: { checks: [${fired}] }`).code).toBe(1);
  });
});
