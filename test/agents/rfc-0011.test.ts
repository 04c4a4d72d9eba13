// RFC 0011, states as agents: its validation tests, its compatibility tests and its first example, from outside.

import { describe, expect, test } from "vitest";
import { createEngine } from "../../src/library/packloop.ts";
import { openPack } from "../../src/pack/pack.ts";
import { type RunFolder, runFolder } from "../cli/run-folder.ts";

const head = `id: security-review
name: Security Review Team
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
`;

const prompts = `prompts:
  triage: { id: triage, name: Triage, version: 1.2.0, system_template: Take the next finding. }
  investigator: { id: investigator, name: Investigator, version: 1.0.0, system_template: Investigate it. }
  analyst: { id: analyst, name: Analyst, version: 1.0.0, system_template: Analyse it. }
`;

const workflow = `workflow:
  version: 2
  entry: triage
  states:
    triage: { prompt_task: triage, max_visits: 20, on_event: { NextFinding: investigate, AllTriaged: done } }
    investigate: { prompt_task: investigator, on_event: { Done: triage } }
    done: { prompt_task: triage, terminal: true }
`;

const agents = (state: string) => `agents:
  entry: triage
  members:
    triage: { ${state} tags: [triage, security] }
    analyst: { tags: [analysis] }
`;

const review = head + prompts + workflow + agents("state: triage,");

const problemsOf = (text: string) =>
  openPack(text, { file: "review.pack.yaml" })
    .diagnostics.filter(({ severity }) => severity === "error")
    .map(({ code, message }) => ({ code, message }));

describe("validation", () => {
  test("a state that is a state of the workflow validates", () => {
    expect(problemsOf(review)).toEqual([]);
  });

  test("a state that the workflow does not have fails, with what was meant", () => {
    const [problem, ...more] = problemsOf(review.replace("state: triage,", "state: trage,"));
    expect(more).toEqual([]);
    expect(problem?.code).toBe("PP206");
    expect(problem?.message).toContain("`trage`");
  });

  test("a state in a pack without a workflow fails", () => {
    expect(problemsOf(head + prompts + agents("state: triage,")).map(({ code }) => code)).toEqual(["PP206"]);
  });

  test("a key of `members` is still the key of a prompt, whatever its state", () => {
    const text = review.replace("    analyst: {", "    done: { state: done }\n    analyst: {");
    expect(problemsOf(text).map(({ code }) => code)).toEqual(["PP207"]);
  });
});

/** Two findings, then the end: the loop takes five visits. */
const script = `states:
  triage: [{ event: NextFinding }, { event: NextFinding }, { event: AllTriaged }]
  investigate: [{ event: Done }]
  done: [{ text: Two findings are triaged. }]
prompts:
  triage: [{ text: One look at triage. }]
  analyst: [{ text: One analysis. }]
`;

const play = (folder: RunFolder, ...flags: string[]) => {
  const { summary, code } = folder.summary(["run", "review.pack.yaml", "--script", "s.yaml", ...flags]);
  return { code, text: summary.output?.text, visits: summary.visits, calls: summary.used.model_calls };
};

const loop = { code: 0, text: "Two findings are triaged.", visits: { triage: 3, investigate: 2, done: 1 } };

describe("example 1 on the command line", () => {
  test("the triage agent runs the loop, twice in a row from the beginning; the analyst runs once", () => {
    using folder = runFolder({ "review.pack.yaml": review, "s.yaml": script });
    expect(play(folder, "--agent", "triage")).toMatchObject({ ...loop, calls: 6 });
    expect(play(folder, "--agent", "triage")).toMatchObject({ ...loop, calls: 6 });
    expect(play(folder, "--agent", "analyst")).toEqual({
      code: 0,
      text: "One analysis.",
      visits: {},
      calls: 1,
    });
  });

  test("an agent that begins in the middle follows the workflow from there", () => {
    const middle = review.replace("state: triage,", "state: investigate,");
    using folder = runFolder({ "review.pack.yaml": middle, "s.yaml": script });
    expect(play(folder, "--agent", "triage")).toMatchObject({
      ...loop,
      visits: { ...loop.visits, investigate: 3 },
    });
    expect(folder.trace().map(({ to }) => to)[0]).toBe("investigate");
  });

  test("what is no agent is refused before anything is stored", () => {
    using folder = runFolder({ "review.pack.yaml": review, "s.yaml": script });
    const wrong = folder.cli(["run", "review.pack.yaml", "--script", "s.yaml", "--agent", "analist"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("`analist` is not an agent of the pack (did you mean `analyst`?)");
    const both = folder.cli([
      ...["run", "review.pack.yaml", "--script", "s.yaml", "--agent", "analyst", "--prompt", "analyst"],
    ]);
    expect(both).toMatchObject({ code: 2, stderr: "error: give --prompt or --agent, not both\n" });
    expect(folder.cli(["ls"]).code).toBe(5);
  });
});

describe("example 1 in a program", () => {
  const program = () => {
    const pack = openPack(review, { file: "review.pack.yaml" });
    if (!pack.ok) throw pack.toError();
    return pack.program;
  };
  const states = {
    triage: [{ event: "NextFinding" }, { event: "NextFinding" }, { event: "AllTriaged" }],
    investigate: [{ event: "Done" }],
    done: [{ text: "Two findings are triaged." }],
  };

  test("`agent` starts a member: at its state, or with its prompt", async () => {
    const model = { script: { states, prompts: { analyst: [{ text: "One analysis." }] } } };
    await using engine = await createEngine({ model });
    for (const _time of [1, 2]) {
      const run = await engine.start(program(), { agent: "triage" });
      expect(await run.result()).toMatchObject({ output: { text: loop.text }, visits: loop.visits });
    }
    const once = await engine.start(program(), { agent: "analyst", input: "this one" });
    expect(await once.result()).toMatchObject({ state: null, output: { text: "One analysis." } });
    await expect(engine.start(program(), { agent: "toString" })).rejects.toMatchObject({
      code: "unknown-agent",
      refusal: { known: ["triage", "analyst"] },
    });
  });

  test("an entry that is not listed is an agent, too, as RFC 0007 implies", async () => {
    const text = review.replace("  entry: triage\n  members", "  entry: investigator\n  members");
    const pack = openPack(text, { file: "review.pack.yaml" });
    if (!pack.ok) throw pack.toError();
    const model = { script: { prompts: { investigator: [{ text: "Investigated." }] } } };
    await using engine = await createEngine({ model });
    const run = await engine.start(pack.program, { agent: "investigator" });
    expect(await run.result()).toMatchObject({ output: { text: "Investigated." } });
  });
});

describe("compatibility", () => {
  /** RFC 0007 alone: prompts that call each other, no workflow. */
  const team = `${head}prompts:
  coordinator: { id: coordinator, name: C, version: 1.0.0, system_template: Coordinate., tools: [researcher] }
  researcher: { id: researcher, name: R, version: 1.0.0, system_template: Research. }
agents:
  entry: coordinator
  members:
    coordinator: {}
    researcher: { tags: [research] }
`;
  const said = `prompts:
  coordinator: [{ calls: [{ tool: researcher, args: { query: why } }] }, { text: Because. }]
  researcher: [{ text: I found it. }]
`;

  test("a pack of RFC 0007 without states loads without a complaint and runs as it did", () => {
    using folder = runFolder({ "review.pack.yaml": team, "s.yaml": said });
    expect(problemsOf(team)).toEqual([]);
    const { summary, code } = folder.summary(["run", "review.pack.yaml", "--script", "s.yaml"]);
    expect(code).toBe(0);
    expect(summary).toMatchObject({
      output: { text: "Because." },
      visits: {},
      children: [{ agent: "researcher" }],
    });
  });

  test("the prompt behind an agent with a state still runs alone for who asks for the prompt", () => {
    using folder = runFolder({
      "review.pack.yaml": review,
      "s.yaml": script.replace(/states:[^]*?prompts:/, "prompts:"),
    });
    expect(play(folder, "--prompt", "triage")).toEqual({
      code: 0,
      text: "One look at triage.",
      visits: {},
      calls: 1,
    });
  });

  test("without an agent the same pack starts at the workflow's entry", () => {
    using folder = runFolder({ "review.pack.yaml": review, "s.yaml": script });
    expect(play(folder)).toMatchObject(loop);
  });
});
