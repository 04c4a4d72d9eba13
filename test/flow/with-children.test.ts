import { expect, test } from "vitest";
import { type CheckedPack, checkText } from "../../src/pack/check-text.ts";
import type { Bound } from "../../src/pack/flow/bound.ts";
import { type WithChildren, withChildren } from "../../src/pack/flow/with-children.ts";

/** What is the same in all packs here; `nudges: 0` keeps the sums short. */
const head = `
id: agents
name: Agents
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
tools: { look: { name: look, description: Looks something up. } }
`;

const prompt = (name: string, tools: readonly string[], rounds: number, calls: number) =>
  `  ${name}: { id: ${name}, name: ${name}, version: 1.0.0, system_template: Go on., ` +
  `tools: [${tools.join(", ")}], tool_policy: { max_rounds: ${rounds}, max_tool_calls_per_turn: ${calls} } }`;

/** `work` twice, then `end`: 3 visits, 2 × 3 + 1 = 7 model calls, 2 × 4 = 8 tool calls. */
const twice = `
workflow:
  version: 2
  entry: work
  engine: { nudges: 0 }
  states:
    work: { prompt_task: lead, max_visits: 2, on_max_visits: end, on_event: { Again: work, Done: end } }
    end: { prompt_task: closer, terminal: true }
`;

const members = (list: Readonly<Record<string, string>>) =>
  `agents:\n  entry: lead\n  members:\n    lead: {}\n${Object.entries(list)
    .map(([name, body]) => `    ${name}: ${body}\n`)
    .join("")}`;

function costOf(...parts: readonly string[]): WithChildren {
  const pack = checkText([head, ...parts].join("\n"), { file: "agents.yaml" }).packs[0] as CheckedPack;
  return withChildren(pack, pack.bounds[0] as Bound);
}

const prompts = (...list: readonly string[]) => ["prompts:", ...list, prompt("closer", [], 1, 1)].join("\n");

test("an agent without a state costs one run of its prompt for each call", () => {
  const cost = costOf(
    prompts(prompt("lead", ["helper"], 2, 4), prompt("helper", ["look"], 3, 5)),
    twice,
    members({ helper: "{}" }),
  );
  expect(cost.agents).toEqual({ helper: { calls: 8, visits: 1, model_calls: 4, tool_calls: 5 } });
  expect(cost).toMatchObject({ visits: 3 + 8, model_calls: 7 + 8 * 4, tool_calls: 8 + 8 * 5 });
});

const digging = `
workflow:
  version: 2
  entry: work
  engine: { nudges: 0 }
  states:
    work: { prompt_task: lead, max_visits: 2, on_max_visits: end, on_event: { Again: work, Done: end } }
    dig: { prompt_task: digger, max_visits: 3, on_max_visits: end, on_event: { More: dig, Done: end } }
    end: { prompt_task: closer, terminal: true }
`;

test("an agent with a state costs a run of the workflow from there", () => {
  const cost = costOf(
    prompts(prompt("lead", ["digger"], 2, 4), prompt("digger", ["look"], 1, 2)),
    digging,
    members({ digger: "{ state: dig }" }),
  );
  // From dig: dig three times and end; 3 × 2 + 1 model calls and 3 × 2 tool calls.
  expect(cost.agents).toEqual({ digger: { calls: 8, visits: 4, model_calls: 7, tool_calls: 6 } });
  expect(cost).toMatchObject({ visits: 3 + 8 * 4, model_calls: 7 + 8 * 7, tool_calls: 8 + 8 * 6 });
});

test("children of children multiply", () => {
  const cost = costOf(
    prompts(prompt("lead", ["middle"], 2, 4), prompt("middle", ["leaf"], 1, 3), prompt("leaf", [], 1, 1)),
    twice,
    members({ middle: "{}", leaf: "{}" }),
  );
  // One call of middle: 2 model calls and 3 calls of leaf, each of one visit and one model call.
  expect(cost.agents).toEqual({ middle: { calls: 8, visits: 4, model_calls: 5, tool_calls: 3 } });
  expect(cost).toMatchObject({ visits: 3 + 8 * 4, model_calls: 7 + 8 * 5, tool_calls: 8 + 8 * 3 });
});

test("every call of a visit may go to either of two agents", () => {
  const cost = costOf(
    prompts(prompt("lead", ["one", "a2a__two"], 2, 4), prompt("one", [], 1, 1), prompt("two", [], 1, 1)),
    twice,
    members({ one: "{}", two: "{}" }),
  );
  expect(Object.entries(cost.agents).map(([name, { calls }]) => [name, calls])).toEqual([
    ["one", 8],
    ["two", 8],
  ]);
  expect(cost).toMatchObject({ visits: 3 + 8 + 8, model_calls: 7 + 8 + 8, tool_calls: 8 });
});

test("the tool call budget caps the calls of an agent", () => {
  const cost = costOf(
    prompts(prompt("lead", ["helper"], 2, 4), prompt("helper", [], 1, 1)),
    twice.replace("nudges: 0", "nudges: 0, budget: { max_tool_calls: 5 }"),
    members({ helper: "{}" }),
  );
  expect(cost.agents["helper"]).toMatchObject({ calls: 5 });
  expect(cost).toMatchObject({ visits: 3 + 5, model_calls: 7 + 5, tool_calls: 5 });
});

test("agents that call each other leave no bound", () => {
  const cost = costOf(
    prompts(
      prompt("lead", ["writer"], 2, 4),
      prompt("writer", ["reader"], 1, 1),
      prompt("reader", ["writer"], 1, 1),
    ),
    twice,
    members({ writer: "{}", reader: "{}" }),
  );
  const none = { visits: null, model_calls: null, tool_calls: null };
  expect(cost).toEqual({ ...none, agents: { writer: { calls: 8, ...none } } });
});

test("an agent that enters a state which calls it leaves no bound", () => {
  const cost = costOf(
    prompts(prompt("lead", ["lead"], 2, 4)),
    twice,
    members({}).replace("{}", "{ state: work }"),
  );
  expect(cost).toMatchObject({ visits: null, agents: { lead: { calls: 8, visits: null } } });
});

test("an agent with endless runs leaves no bound, and costs nothing where it is never called", () => {
  const endless = digging.replace("max_visits: 3, on_max_visits: end, ", "");
  const parts = [prompts(prompt("lead", ["digger"], 2, 4), prompt("digger", [], 1, 2)), endless] as const;
  const agents = members({ digger: "{ state: dig }" });
  expect(costOf(...parts, agents)).toMatchObject({ visits: null, model_calls: null, tool_calls: 8 });
  const silent = parts[0].replace("max_rounds: 2", "tool_choice: none, max_rounds: 2");
  expect(costOf(silent, endless, agents)).toMatchObject({ visits: 3, model_calls: 7, tool_calls: 0 });
});

test("a tool of the pack hides an agent of the same name", () => {
  const cost = costOf(
    prompts(prompt("lead", ["look"], 2, 4), prompt("look", [], 1, 1)),
    twice,
    members({ look: "{}" }),
  );
  expect(cost).toEqual({ visits: 3, model_calls: 7, tool_calls: 8, agents: {} });
});

test("a pack without workflow calls agents from its prompts", () => {
  const cost = costOf(
    prompts(prompt("lead", ["helper"], 2, 4), prompt("helper", [], 1, 1)),
    members({ helper: "{}" }),
  );
  expect(cost.agents).toEqual({ helper: { calls: 4, visits: 1, model_calls: 1, tool_calls: 0 } });
  expect(cost).toMatchObject({ visits: 1 + 4, model_calls: 3 + 4, tool_calls: 4 });
});

test("steps of a composition call agents too", () => {
  const cost = costOf(
    prompts(prompt("lead", ["helper"], 2, 4), prompt("helper", [], 1, 1), prompt("other", [], 1, 1)),
    `
compositions:
  both:
    version: 1
    steps:
      - { id: ask, kind: tool, tool: helper }
      - id: split
        kind: parallel
        branches:
          - { id: left, kind: agent, prompt_task: lead, termination: { max_steps: 1 } }
          - { id: right, kind: agent, prompt_task: lead, tools: [other], termination: { max_steps: 1 } }
        reduce: { strategy: append, into: all }
workflow:
  version: 2
  entry: mix
  states:
    mix: { orchestration: composition, composition: both, terminal: true }
`,
    members({ helper: "{}", other: "{}" }),
  );
  // The visit makes 1 + 4 + 4 calls; which of them go to which agent is not followed further.
  expect(cost.agents).toMatchObject({ helper: { calls: 9 }, other: { calls: 9 } });
  expect(cost).toMatchObject({ visits: 1 + 9 + 9, model_calls: 4 + 9 + 9, tool_calls: 9 });
});
