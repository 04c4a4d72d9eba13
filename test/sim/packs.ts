// What is run: packs that put each rule to use, and random workflows.

import type { Limits } from "../../src/core/facts.ts";
import type { Program } from "../../src/core/program.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { programOf, type SmallPack, smallPack } from "../flow/small-pack.ts";
import type { Dice } from "./dice.ts";

const head = 'name: S\nversion: 1.0.0\ntemplate_engine: { version: v1, syntax: "{{variable}}" }\n';
const prompt = (name: string, rest = "") =>
  `  ${name}: { id: ${name}, name: P, version: 1.0.0, system_template: "Go on.${rest}\n`;
const tools = `tools:
  look: { name: look, description: Look., action_scope: { effect: read }, parameters: { type: object, properties: { q: { type: string } } } }
  write: { name: write, description: Write., action_scope: { effect: write } }
  ship: { name: ship, description: Ship., action_scope: { effect: external, reversibility: irreversible }, parameters: { type: object, properties: { q: { type: string } } } }
  report: { name: report, description: Report., action_scope: { effect: read } }
`;

const codegen = `id: codegen
${head}${tools}prompts:
${prompt("plain", '" }')}${prompt(
  "coder",
  ' {{artifacts.log}}", tools: [look, write], tool_policy: { max_rounds: 3, max_tool_calls_per_turn: 4 } }',
)}${prompt("tester", '", tools: [report] }')}workflow:
  version: 2
  entry: plan
  engine:
    budget: { max_total_visits: 16, max_tool_calls: 14, max_wall_time_sec: 90 }
    result_bindings: { look: { artifact: log, path: $.a } }
  states:
    plan: { prompt_task: plain, artifacts: { log: { type: application/json, mode: append } }, on_event: { Ready: implement } }
    implement: { prompt_task: coder, max_visits: 3, on_max_visits: review, persistence: persistent, artifacts: { note: { type: text/plain } }, on_event: { Done: test, Rethink: plan } }
    test: { prompt_task: tester, artifacts: { report: { type: application/json } }, on_event: { Passed: review, Failed: implement } }
    review: { prompt_task: plain, orchestration: external, max_visits: 4, on_max_visits: done, on_event: { Approved: done, Changes: implement } }
    done: { prompt_task: plain, terminal: true }
`;

const redirects = `id: redirects
${head}prompts:
${prompt("plain", '" }')}workflow:
  version: 2
  entry: a
  states:
    a: { prompt_task: plain, max_visits: 2, on_max_visits: b, on_event: { Again: a, Next: b, Last: d } }
    b: { prompt_task: plain, max_visits: 1, on_max_visits: c, on_event: { Back: a, Next: c } }
    c: { prompt_task: plain, max_visits: 3, on_max_visits: a, on_event: { Back: a, Side: b, Round: c, End: d } }
    d: { prompt_task: plain, max_visits: 1, on_max_visits: e, on_event: { Back: c, Go: e } }
    e: { prompt_task: plain, terminal: true }
`;

const gate = `id: gate
${head}${tools}prompts:
${prompt("plain", '" }')}${prompt("worker", '", tools: [look, write, ship], tool_policy: { max_rounds: 2 } }')}workflow:
  version: 2
  entry: draft
  engine: { wall_clock: active, nudges: 2, budget: { max_wall_time_sec: 40, max_total_visits: 30 } }
  states:
    draft: { prompt_task: worker, artifacts: { text: { type: text/plain, mode: append } }, on_event: { Drafted: talk, Skip: gate } }
    talk: { prompt_task: worker, orchestration: hybrid, persistence: persistent, on_event: { Agreed: gate, Rewrite: draft } }
    gate: { prompt_task: worker, orchestration: external, on_event: { Yes: done, No: draft, Handover: out } }
    done: { prompt_task: worker, terminal: true }
    out: { prompt_task: plain, orchestration: external, terminal: true }
`;

const approvals = `id: approvals
${head}${tools}metadata: { governance: { autonomy_level: acts_with_approval } }
prompts:
${prompt("shipper", '", tools: [look, ship, write], tool_policy: { max_rounds: 4, max_tool_calls_per_turn: 5 } }')}workflow:
  version: 2
  entry: ship
  engine: { budget: { max_tool_calls: 9, max_wall_time_sec: 120 } }
  states:
    ship: { prompt_task: shipper, max_visits: 4, on_max_visits: end, on_event: { Shipped: watch, Failed: ship } }
    watch: { prompt_task: shipper, orchestration: hybrid, max_visits: 4, on_event: { Fine: end, Broken: ship } }
    end: { prompt_task: shipper, terminal: true }
`;

const spending = `id: spending
${head}${tools}prompts:
${prompt("plain", '", tools: [look] }')}workflow:
  version: 2
  entry: spend
  engine:
    wall_clock: total
    budget: { max_wall_time_sec: 300 }
    budget_ext: { max_model_calls: 12, max_input_tokens: 350, max_output_tokens: 160, max_cost_usd: 2.5 }
  states:
    spend: { prompt_task: plain, on_event: { More: spend, Rest: rest } }
    rest: { prompt_task: plain, control: agent, on_event: { More: spend, End: end } }
    end: { prompt_task: plain, terminal: true }
`;

const agents = `id: agents
${head}${tools}prompts:
${prompt("lead", '", tools: [scout, critic, look] }')}${prompt("scout", '", tools: [look] }')}${prompt("critic", '" }')}agents:
  entry: lead
  members: { lead: {}, scout: { state: search }, critic: {} }
workflow:
  version: 2
  entry: lead
  engine: { budget: { max_tool_calls: 8, max_total_visits: 9 } }
  states:
    lead: { prompt_task: lead, orchestration: hybrid, max_visits: 3, on_max_visits: end, on_event: { More: lead, End: end } }
    end: { prompt_task: lead, terminal: true }
    search: { prompt_task: scout, max_visits: 2, on_max_visits: found, on_event: { Gaps: search, Enough: found } }
    found: { prompt_task: scout, terminal: true }
`;

const single = `id: single
${head}${tools}prompts:
${prompt("only", '", tools: [look, write], tool_policy: { max_rounds: 2, max_tool_calls_per_turn: 2 } }')}`;

const own: readonly Program[] = [codegen, redirects, gate, approvals, spending, agents, single].map(
  (text) => {
    const opened = openPack(text, { file: "sim.yaml" });
    if (!opened.ok) throw opened.toError();
    return opened.program;
  },
);

/** Of what may be called again after a crash, only this is said by its binding; the rest by the pack. */
export const isBoundSafe = (tool: string): boolean => tool === "look";

export const isSafe = (program: Program, tool: string): boolean =>
  isBoundSafe(tool) || program.tools[tool]?.actionScope["effect"] === "read";

export function anyProgram(dice: Dice): Program {
  return dice.chance(0.65) ? dice.pick(own) : randomProgram(dice);
}

function randomProgram(dice: Dice): Program {
  let pack: SmallPack = smallPack(dice.random);
  while (JSON.stringify(pack).includes("nowhere")) pack = smallPack(dice.random);
  const program = programOf(pack);
  const workflow = program.workflow as NonNullable<Program["workflow"]>;
  const states = Object.fromEntries(
    Object.entries(workflow.states).map(([name, state]) => [
      name,
      { ...state, persistent: dice.chance(0.3), control: dice.pick(["user", "agent"] as const) },
    ]),
  );
  const wallTimeSec = dice.chance(0.5) ? dice.between(5, 120) : null;
  return {
    ...program,
    workflow: {
      ...workflow,
      states,
      wallClock: dice.pick(["total", "active"] as const),
      budget: { ...workflow.budget, wallTimeSec },
    },
  };
}

/** What a caller may ask for: no more than the pack allows. */
export function tighterLimits({ workflow }: Program, dice: Dice): Partial<Limits> {
  const most = (pack: number | null | undefined) => 1 + dice.below(Math.min(pack ?? 6, 6));
  return { visits: most(workflow?.budget.visitsMax), toolCalls: most(workflow?.budget.toolCallsMax) };
}

/** A pack somebody goes on with in a fork: the same places, but other limits, tools, events or gates. */
export function otherProgram(program: Program, dice: Dice): Program {
  const { workflow } = program;
  if (workflow === null) return { ...program, version: "2.0.0" };
  const states = Object.entries(workflow.states).map(([name, state]) => {
    const more = !state.terminal && dice.chance(0.5) ? { Extra: workflow.entry } : {};
    return [name, { ...state, events: { ...state.events, ...more } }] as const;
  });
  const { budget } = workflow;
  const wallTimeSec = dice.pick([null, 30, 100, 400]);
  const visitsMax = dice.chance(0.5) ? budget.visitsMax : dice.between(1, 30);
  const toolCallsMax = dice.chance(0.5) ? budget.toolCallsMax : dice.between(1, 20);
  return {
    ...program,
    version: "2.0.0",
    prompts: dice.chance(0.3) ? program.prompts : withoutATool(program.prompts, dice),
    metadata: dice.chance(0.5) ? program.metadata : { governance: { autonomy_level: "acts_with_approval" } },
    workflow: {
      ...workflow,
      states: Object.fromEntries(states),
      wallClock: dice.pick(["total", "active"] as const),
      budget: { ...budget, wallTimeSec, visitsMax, toolCallsMax },
    },
  };
}

/** A prompt keeps one tool at least, so that a visit may still have rounds of them. */
function withoutATool(prompts: Program["prompts"], dice: Dice): Program["prompts"] {
  const changed = Object.entries(prompts).map(([name, spec]) => {
    const gone = spec.tools.length > 1 ? dice.pick(spec.tools) : undefined;
    return [name, { ...spec, tools: spec.tools.filter((tool) => tool !== gone) }] as const;
  });
  return Object.fromEntries(changed);
}
