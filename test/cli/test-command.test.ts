// `packloop test` as a process: what passes, what fails and how it is said, what cannot be used.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseXml } from "../formats/parse-xml.ts";
import { junitSchema, xmlProblems } from "../formats/xml-schemas.ts";
import { folderWith, packloop } from "./run-cli.ts";
import { pack, states } from "./work-pack.ts";

const script = `states:
  work:
    - { calls: [{ tool: look }], usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.01 } }
    - { artifacts: { note: seen }, event: Done }
  end: [{ text: Goodbye to all. }]
tools: { look: [{ ok: { light: on } }] }
`;

const head = "pack: pack.yaml\nvariables: { task: it }\nscript: script.yaml\ntests:\n";
const files = { "pack.yaml": pack, "script.yaml": script };

/** Runs one file of tests; each is the text of one list entry. */
function testing(
  tests: readonly string[],
  args: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
) {
  const text = head + tests.map((one) => `  - ${one.replaceAll("\n", "\n    ")}\n`).join("");
  using folder = folderWith({ ...files, "a.test.yaml": text, ...more });
  return packloop(["test", ...args], { cwd: folder.path });
}

const good = "name: all is well\nexpect: { status: completed }";

interface JsonReport {
  readonly totals: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly tests: readonly {
    readonly file: string;
    readonly name: string;
    readonly status: string;
    readonly differences: readonly {
      what: string;
      expected: string;
      actual: string;
      place: string;
      kind: string;
    }[];
    readonly run: { readonly status: string; readonly path: readonly string[] } | null;
  }[];
}

/** The differences of one test, each \`what: expected / actual\`. */
function differences(one: string, more: Readonly<Record<string, string>> = {}): readonly string[] {
  const ran = testing([`name: t\n${one}`], ["--json"], more);
  if (ran.stdout === "") throw new Error(ran.stderr);
  const report = JSON.parse(ran.stdout) as JsonReport;
  const found = (report.tests[0]?.differences ?? []).map(
    ({ what, expected, actual }) => `${what}: ${expected} / ${actual}`,
  );
  expect(ran.code).toBe(found.length === 0 ? 0 : 1);
  return found;
}

describe("expectations", () => {
  test("that hold pass, all kinds of them at once", () => {
    const everything = `expect:
  status: completed
  state: end
  path: [work, end]
  transitions: [{ from: work, event: Done, to: end, cause: event }]
  visits: { work: 1, gate: 0 }
  artifacts: { note: seen, other: { exists: false } }
  output: { contains: [Goodbye, all], matches: "^Good", length: { min: 5, max: 20 } }
  used: { max_tool_calls: 1, max_model_calls: 3, max_total_visits: 2, max_cost_usd: 0.01 }
  checks:
    - { type: contains, params: { patterns: [goodbye] } }
    - { type: content_matches, params: { pattern: "all\\\\.$" } }
    - { type: tools_called, params: { tools: [look], max_calls: 1 } }
    - { type: tools_not_called, params: { tools: [shout] } }
    - { type: tool_args, params: { tool_name: workflow__transition, expected_args: { event: Done } } }
    - { type: tool_call_sequence, params: { sequence: [look, workflow__transition] } }
    - { type: no_tool_errors }
    - { type: state_is, params: { state: end } }
    - { type: transitioned_to, params: { state: end } }
    - { type: workflow_complete }
    - { type: workflow_transition_order, params: { sequence: [work, end] } }
    - { type: spoke_in_state, params: { state: end } }
    - { type: cost_budget, params: { max_cost_usd: 0.01, max_total_tokens: 15 } }
    - { type: guardrail_triggered, params: { validator_type: max_length, should_trigger: false } }`;
    expect(differences(everything)).toEqual([]);
  });

  test.each([
    ["status", "{ status: waiting }", "status: `waiting` / `completed`"],
    ["state", "{ state: gate }", "state: `gate` / `end`"],
    ["path", "{ path: work → gate }", "path, at its state 2: `gate` / `end` in work → end"],
    ["a longer path", "{ path: [work, end, end] }", "path, at its state 3: `end` / the end in work → end"],
    [
      "transition",
      "{ transitions: [{ event: Ask }] }",
      'transition 1: `{"event":"Ask"}` / `{"event":"Done"}`',
    ],
    ["fewer transitions", "{ transitions: [] }", "transitions: 0 transitions / 1"],
    ["visits", "{ visits: { work: 2 } }", "visits of `work`: 2 / 1"],
    ["artifact", "{ artifacts: { note: lost } }", "artifact `note`: `lost` / `seen`"],
    [
      "missing artifact",
      "{ artifacts: { other: { contains: x } } }",
      "artifact `other`: something with `x` / nothing",
    ],
    [
      "artifact that should not be",
      "{ artifacts: { note: { exists: false } } }",
      "artifact `note`: nothing / `seen`",
    ],
    ["length", "{ artifacts: { note: { length: 9 } } }", "artifact `note`: a length of 9 / `seen`"],
    [
      "schema",
      "{ artifacts: { note: { schema: { type: number } } } }",
      'artifact `note`: something that conforms to `{"type":"number"}` / `seen`',
    ],
    ["output", "{ output: Hello }", "output: `Hello` / `Goodbye to all.`"],
    ["used", "{ used: { max_model_calls: 2 } }", "max_model_calls: at most 2 / 3"],
    ["reason", "{ reason: cancelled }", "reason's code: `cancelled` / nothing"],
    [
      "check",
      "{ checks: [{ type: tools_called, params: { tools: [look], min_calls: 2 } }] }",
      'check `tools_called`: tools_called {"tools":["look"],"min_calls":2} / look, workflow__set_artifact, workflow__transition',
    ],
    [
      "check that nobody can judge",
      "{ checks: [{ type: contains, params: { pattern: x } }] }",
      'check `contains`: contains {"pattern":"x"} / its params are not those of the type',
    ],
  ])("of %s fail with what was", (_what, expected, difference) => {
    expect(differences(`expect: ${expected}`)).toEqual([difference]);
  });

  test("of an end by a budget, with its limit", () => {
    const tight =
      "budgets: { max_tool_calls: 1 }\nscript:\n  states: { work: [{ calls: [{ tool: look }] }] }\n";
    const limit = "{ status: budget_exhausted, reason: { limit: max_tool_calls } }";
    expect(differences(`${tight}expect: ${limit}`)).toEqual([]);
    expect(differences("budgets: { max_tool_calls: 9 }\nexpect: { status: completed }")).toEqual([
      "the run: to be played to its end / max_tool_calls can only be tightened: the pack allows 5, 9 was given",
    ]);
  });
});

describe("people", () => {
  const asks = states("{ event: Ask }");
  const person = "script: asks.yaml\n";
  const more = { "asks.yaml": asks };

  test("send events, by state or in order, with who and what", () => {
    const expected =
      "expect: { path: work → gate → end, transitions: [{ by: null }, { by: ann, event: Yes }] }";
    expect(differences(`${person}events: { gate: [{ event: Yes, by: ann }] }\n${expected}`, more)).toEqual(
      [],
    );
    expect(differences(`${person}people: [{ send: Yes, by: ann }]\n${expected}`, more)).toEqual([]);
  });

  test("who are waited for leave the run waiting", () => {
    expect(differences(`${person}expect: { status: waiting, state: gate }`, more)).toEqual([]);
  });

  test("who say what is not allowed fail the test", () => {
    const wrong = differences(`${person}people: [{ send: Perhaps }]\nexpect: { status: waiting }`, more);
    expect(wrong).toEqual([
      "the run: to be played to its end / send `Perhaps` was refused: event `Perhaps` is not allowed here (allowed: Yes, No)",
    ]);
  });

  test("who are never asked fail the test", () => {
    expect(differences("people: [{ approve: look }]\nexpect: { status: completed }")).toEqual([
      "the run: to be played to its end / the run never waited for people to approve `look`",
    ]);
  });

  test("approve and reject calls", () => {
    const gated = "approvals: [look]\n";
    expect(differences(`${gated}expect: { status: waiting }`)).toEqual([]);
    const calls = "{ status: completed, checks: [{ type: no_tool_errors }] }";
    expect(differences(`${gated}people: [{ approve: look, by: ann }]\nexpect: ${calls}`)).toEqual([]);
    expect(differences(`${gated}people: [{ reject: look, reason: no }]\nexpect: ${calls}`)).toEqual([
      "check `no_tool_errors`: no_tool_errors {} / look (error), workflow__set_artifact, workflow__transition",
    ]);
  });

  test("answer what a tool asks them", () => {
    const config = {
      "packloop.yaml": "tools: { look: { builtin: human, op: ask, question: Is there light? } }\n",
    };
    const asked =
      "script: { states: { work: [{ calls: [{ tool: look }] }, { event: Done }], end: [{ text: Bye }] } }\n";
    expect(differences(`${asked}expect: { status: waiting }`, config)).toEqual([]);
    const answered = `${asked}people: [{ answer: look, value: it is dark, by: ann }]\n`;
    expect(differences(`${answered}expect: { status: completed, path: work → end }`, config)).toEqual([]);
  });

  test("talk with a run that is a conversation, and cancel one", () => {
    const talk =
      "mode: conversational\ninput: hello\nscript:\n  states: { work: [{ text: Who? }, { event: Done }], end: [{ text: Bye }] }\n";
    expect(differences(`${talk}expect: { status: waiting }`)).toEqual([]);
    expect(differences(`${talk}people: [{ say: me }]\nexpect: { status: completed, output: Bye }`)).toEqual(
      [],
    );
    expect(differences(`${talk}people: [{ cancel: enough }]\nexpect: { status: cancelled }`)).toEqual([]);
  });
});

describe("a test", () => {
  test("works in a folder of its own, a copy of the one it names, with the tools of the configuration", () => {
    const config = "tools: { look: { builtin: fs, op: read }, keep: { builtin: fs, op: write } }\n";
    const keeping = pack
      .replace("tools: [look]", "tools: [look, keep]")
      .replaceAll("properties: {} }", "properties: {} } ");
    const reads = `script:
  states:
    work:
      - calls: [{ tool: keep, args: { path: new.txt, content: x } }]
      - calls: [{ tool: look, args: { path: seed.txt } }, { tool: look, args: { path: new.txt } }]
      - { event: Done }
    end: [{ text: Bye }]
workspace: seed
expect: { status: completed, checks: [{ type: no_tool_errors }] }`;
    using folder = folderWith({
      "pack.yaml": keeping,
      "packloop.yaml": config,
      "a.test.yaml": `pack: pack.yaml\nvariables: { task: it }\ntests:\n  - name: a\n    ${reads.replaceAll("\n", "\n    ")}\n`,
    });
    mkdirSync(join(folder.path, "seed"));
    writeFileSync(join(folder.path, "seed", "seed.txt"), "grain");
    const ran = packloop(["test"], { cwd: folder.path });
    expect(ran.stdout).toContain("1 passed, 0 failed");
    expect(existsSync(join(folder.path, "seed", "new.txt"))).toBe(false);
    expect(existsSync(join(folder.path, ".packloop"))).toBe(false);
    // Twice: nothing of the first one is left to be found.
    expect(packloop(["test"], { cwd: folder.path }).code).toBe(0);
  });

  test("never asks a real model, whatever the configuration says", () => {
    const config = {
      "packloop.yaml": "model: { provider: openai-compatible, base_url: 'http://127.0.0.1:9', model: x }\n",
    };
    expect(differences("expect: { status: completed }", config)).toEqual([]);
  });

  test("that does not end in time fails and says so", () => {
    const slow =
      "timeout: 0.2s\nscript: { states: { work: [{ delay_ms: 60000 }] } }\nexpect: { status: completed }";
    expect(differences(slow)).toEqual([
      "the run: to be played to its end / it was not over after 0.2 s",
      "status: `completed` / `running` in `work`",
    ]);
  });

  test("plays a cassette", () => {
    using folder = folderWith({
      ...files,
      "a.test.yaml": `pack: pack.yaml\ntests:\n  - name: a\n    variables: { task: it }\n    cassette: c.cassette\n    expect: { path: work → end, output: Goodbye to all. }\n`,
    });
    const recorded = [
      "run",
      "pack.yaml",
      "--script",
      "script.yaml",
      "--var",
      "task=it",
      "--record",
      "c.cassette",
    ];
    expect(packloop(recorded, { cwd: folder.path }).code).toBe(0);
    expect(packloop(["test"], { cwd: folder.path })).toMatchObject({ code: 0 });
    writeFileSync(join(folder.path, "pack.yaml"), pack.replace("Do {{task}}", "Please do {{task}}"));
    const ran = packloop(["test"], { cwd: folder.path });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain("asks the model what `c.cassette` does not hold");
  });

  test("whose run breaks fails, unless it says that it should", () => {
    const broken = "script: { states: { work: [{ fail: { status: 401 } }] } }\n";
    expect(differences(`${broken}expect: { path: work }`)).toEqual([
      "status: a run that does not fail / `failed` (http_401 in `work`: the scripted provider answered 401)",
    ]);
    expect(differences(`${broken}expect: { path: work, reason: http_401 }`)).toEqual([]);
  });

  test("does not wait out the failures of a scripted provider", () => {
    const flaky =
      "script: { states: { work: [{ fail: { status: 429 } }, { event: Done }], end: [{ text: Bye }] } }\n";
    expect(differences(`${flaky}timeout: 5s\nexpect: { status: completed }`)).toEqual([]);
  });

  test("that is to be skipped is, with its reason", () => {
    const ran = testing([good, "name: later\nskip: not yet\nexpect: { status: failed }"]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("- a.test.yaml › later  skipped: not yet");
    expect(ran.stdout).toContain("1 passed, 0 failed, 1 skipped");
  });
});

describe("the command", () => {
  const bad = "name: wrong\nexpect:\n  path: work → gate";

  test("says what was expected, what was, where, and the way around it", () => {
    const ran = testing([good, bad]);
    expect(ran.code).toBe(1);
    expect(ran.stdout.replaceAll(/\d+(\.\d)? (ms|s)\b/g, "T")).toBe(
      [
        "✓ a.test.yaml › all is well  T",
        "✗ a.test.yaml › wrong  T",
        "    path, at its state 2",
        "      expected `gate`",
        "      was      `end` in work → end",
        "      at a.test.yaml:9:7",
        "    the way it took",
        "        1 → work (1)  entry",
        "      > 2 → end (1)  Done from work",
        "",
        "1 passed, 1 failed  T",
        "",
      ].join("\n"),
    );
  });

  test("says under a test that failed which calls failed, and with what", () => {
    const failing = `name: wrong
script:
  states: { work: [{ calls: [{ tool: look }] }, { calls: [{ tool: shout }] }, { event: Done }], end: [{ text: Bye }] }
  tools: { look: [{ error: it is dark }] }
expect: { output: Hello }`;
    const { stdout } = testing([failing]);
    expect(stdout).toContain("    calls that failed\n        look: it is dark\n        shout: ");
  });

  test("runs what the filter holds, and refuses one that holds nothing", () => {
    expect(testing([good, bad], ["--filter", "WELL"]).stdout).toContain("1 passed, 0 failed");
    expect(testing([good], ["--filter", "nobody"])).toMatchObject({
      code: 2,
      stderr: "error: no test holds `nobody` in its file or name\n",
    });
  });

  test("writes JUnit that its readers accept, also of hostile texts", () => {
    const hostile = 'name: "<a> & \\"b\\" \\u0007 ]]>"\nexpect: { output: "</failure>\\u0001" }';
    const skipped = "name: later\nskip: a < b\nexpect: { status: failed }";
    const { stdout, code } = testing([good, hostile, skipped], ["--format", "junit"]);
    expect(code).toBe(1);
    const time = /^\d+\.\d{3}$/;
    const schema = {
      testsuites: {
        ...junitSchema["testsuites"],
        attributes: { ...junitSchema["testsuites"]?.attributes, time },
      },
      testsuite: {
        ...junitSchema["testsuite"],
        attributes: { ...junitSchema["testsuite"]?.attributes, time },
      },
      testcase: {
        attributes: { ...junitSchema["testcase"]?.attributes, time },
        children: ["failure", "skipped"],
      },
      failure: junitSchema["failure"],
      skipped: { attributes: { message: /^/ }, children: [] },
    } as typeof junitSchema;
    const root = parseXml(stdout);
    expect(xmlProblems(root, schema)).toEqual([]);
    expect(root.attributes.get("tests")).toBe("3");
    expect(root.attributes.get("failures")).toBe("1");
    expect(root.children[0]?.attributes.get("skipped")).toBe("1");
    expect(root.children[0]?.children.map((one) => one.children.map(({ name }) => name))).toEqual([
      [],
      ["failure"],
      ["skipped"],
    ]);
  });

  test("writes several formats at once, some of them to files", () => {
    using folder = folderWith({
      ...files,
      "a.test.yaml": `${head}  - { name: a, expect: { status: completed } }\n`,
    });
    const ran = packloop(["test", "--format", "pretty", "--format", "json=out.json"], { cwd: folder.path });
    expect(ran.stdout).toContain("✓ a.test.yaml › a");
    const report = JSON.parse(readFileSync(join(folder.path, "out.json"), "utf8")) as JsonReport;
    expect(report.totals).toMatchObject({ passed: 1, failed: 0 });
    expect(report.tests[0]?.run).toMatchObject({ status: "completed", path: ["work", "end"] });
  });

  test.each([
    [
      "an unknown key of the file",
      "pack: pack.yaml\nvarables: {}\ntests: [{ name: a, script: script.yaml, expect: { status: failed } }]\n",
      "a.test.yaml:2:1: unknown key `varables` (did you mean `variables`?)",
    ],
    [
      "an unknown expectation",
      `${head}  - name: a\n    expect: { statsu: completed }\n`,
      "a.test.yaml:6:15: unknown key `statsu` (did you mean `status`?)",
    ],
    ["a test that expects nothing", `${head}  - name: a\n`, "a.test.yaml:5:5: a test says what it expects"],
    [
      "a model that nobody plays",
      "pack: pack.yaml\ntests:\n  - { name: a, expect: { status: failed } }\n",
      "a.test.yaml:3:5: nothing plays the model",
    ],
    [
      "a key that is there twice",
      `${head}  - name: a\n    expect: { status: failed }\n    name: b\n`,
      "a.test.yaml:7:5: key `name` is there twice",
    ],
    [
      "a name that is there twice",
      `${head}  - { name: a, expect: { status: failed } }\n  - { name: a, expect: { status: failed } }\n`,
      "a.test.yaml:6:7: `a` is there twice",
    ],
    [
      "a type that is not judged",
      `${head}  - { name: a, expect: { checks: [{ type: llm_judge }] } }\n`,
      "`llm_judge` cannot be judged by packloop test",
    ],
    [
      "a type that does not exist",
      `${head}  - { name: a, expect: { checks: [{ type: contians }] } }\n`,
      "`contians` is not a type of check (did you mean `contains`?)",
    ],
    [
      "a script with a mistake",
      `${head}  - { name: a, script: { states: { work: [{ evnt: x }] } }, expect: { status: failed } }\n`,
      "`evnt` is not known here (did you mean `event`?)",
    ],
    [
      "a pack that is not there",
      "pack: none.yaml\nscript: script.yaml\ntests: [{ name: a, expect: { status: failed } }]\n",
      "a.test.yaml:1:1: cannot open `none.yaml` (no such file)",
    ],
    [
      "a cassette that is none",
      `${head}  - { name: a, script: {}, cassette: pack.yaml, expect: { status: failed } }\n`,
      "`pack.yaml` is no cassette",
    ],
    ["YAML that is broken", "pack: [\n", "a.test.yaml:"],
  ])("stops at %s, with its place, and runs nothing", (_what, text, message) => {
    using folder = folderWith({
      ...files,
      "a.test.yaml": text,
      "b.test.yaml": `${head}  - { name: fine, expect: { status: completed } }\n`,
    });
    const { code, stdout, stderr } = packloop(["test"], { cwd: folder.path });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  test("finds nothing where there is nothing", () => {
    using folder = folderWith(files);
    expect(packloop(["test"], { cwd: folder.path })).toMatchObject({
      code: 2,
      stderr: "error: no test found in `.` (tests are in files *.test.yaml)\n",
    });
  });

  test("passes the tests of the examples, which every example has", () => {
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const ran = packloop(["test", "examples", "--json"], { cwd: root });
    expect(ran.stderr).toBe("");
    const report = JSON.parse(ran.stdout) as JsonReport;
    expect(report.tests.filter(({ status }) => status !== "passed")).toEqual([]);
    expect(new Set(report.tests.map(({ file }) => file)).size).toBe(10);
    expect(ran.code).toBe(0);
  });
});
