// Packs whose states run compositions: random steps of every kind, with joins, retries and nested branches.

import type { Json, JsonObject } from "../../src/base/json.ts";
import type { Program } from "../../src/core/program.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import type { Dice } from "./dice.ts";

const prompt = (id: string, rest: JsonObject = {}): JsonObject => ({
  id,
  name: "P",
  version: "1.0.0",
  system_template: "Go on with {{input}}.",
  ...rest,
});

const q = { type: "object", properties: { q: { type: "string" } } };
const tool = (name: string, effect: string, parameters?: JsonObject): JsonObject => ({
  name,
  description: name,
  action_scope: { effect },
  ...(parameters !== undefined && { parameters }),
});

export function compositionProgram(dice: Dice): Program {
  const pack = {
    id: "composed",
    name: "S",
    version: "1.0.0",
    template_engine: { version: "v1", syntax: "{{variable}}" },
    fragments: { object: '{"type":"object"}' },
    prompts: {
      plain: prompt("plain"),
      worker: prompt("worker", {
        tools: ["look", "write", "critic"],
        tool_policy: { max_rounds: 2, max_tool_calls_per_turn: 3 },
      }),
      critic: prompt("critic"),
    },
    tools: {
      look: tool("look", "read", q),
      write: tool("write", "write"),
      ship: { ...tool("ship", "external", q) },
    },
    agents: { entry: "plain", members: { plain: {}, critic: {} } },
    metadata: dice.chance(0.4) ? { governance: { autonomy_level: "acts_with_approval" } } : {},
    compositions: { one: anyComposition(dice), two: anyComposition(dice) },
    workflow: {
      version: 2,
      entry: "first",
      engine: {
        budget: { max_total_visits: 7, max_tool_calls: dice.between(4, 30), max_wall_time_sec: 300 },
        result_bindings: { write: "note" },
      },
      states: {
        first: {
          orchestration: "composition",
          composition: "one",
          on_event: { Again: "first", Next: "second" },
          artifacts: { note: { type: "application/json" } },
        },
        second: {
          orchestration: "composition",
          composition: "two",
          ...(dice.chance(0.5) ? { terminal: true } : { on_event: { Back: "first", End: "end" } }),
          persistence: "persistent",
        },
        end: { prompt_task: "plain", terminal: true },
      },
    },
  };
  const opened = openPack(JSON.stringify(pack), { file: "sim.json" });
  if (!opened.ok) throw opened.toError();
  return opened.program;
}

function anyComposition(dice: Dice): JsonObject {
  const count = dice.between(2, 5);
  const ids = Array.from({ length: count }, (_, index) => `s${index}`);
  const steps = ids.map((id, index) =>
    anyStep(dice, id, { before: ids.slice(0, index), after: ids.slice(index + 1) }),
  );
  return { version: 1, steps };
}

interface Around {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

function anyStep(dice: Dice, id: string, { before, after }: Around): JsonObject {
  const kinds = { prompt: 4, agent: 3, tool: 4, parallel: 4, branch: after.length > 0 ? 3 : 0 };
  const kind = dice.weighted(kinds);
  const joins = before.length > 0 && dice.chance(0.3);
  const base: JsonObject = {
    id,
    ...(joins && { depends_on: [...new Set([dice.pick(before), dice.pick(before)])] }),
    ...(kind !== "branch" &&
      dice.chance(0.4) && { modifiers: { retry: { max_attempts: dice.between(1, 3) } } }),
  };
  if (kind === "branch") return { ...base, ...branch(dice, { before, after }) };
  return { ...base, ...(kind === "parallel" ? parallel(dice, id, before) : leaf(dice, kind, before)) };
}

function branch(dice: Dice, { before, after }: Around): JsonObject {
  const path = reference(dice, before);
  return {
    kind: "branch",
    predicate: dice.pick<JsonObject>([
      { path, exists: dice.chance(0.5) },
      { path, op: "equals", value: dice.pick<Json>(["so be it", null, true]) },
      {
        not: {
          any_of: [
            { path, op: "in", value: ["", "so be it"] },
            { path: "${input.x}", exists: true },
          ],
        },
      },
    ]),
    ...targets(dice, after),
  };
}

/** An object literal with `then` would look like a promise. */
function targets(dice: Dice, after: readonly string[]): JsonObject {
  const onTrue = ["then", dice.pick(after)];
  return Object.fromEntries(dice.chance(0.6) ? [onTrue, ["else", dice.pick(after)]] : [onTrue]);
}

function parallel(dice: Dice, id: string, before: readonly string[], depth = 0): JsonObject {
  const names = ["a", "b", "c"].slice(0, dice.between(2, 3)).map((name) => `${id}${name}`);
  const branches = names.map((name, index) => {
    const joins = index > 0 && dice.chance(0.2) ? { depends_on: [names[0] as string] } : {};
    const retry = dice.chance(0.3) ? { modifiers: { retry: { max_attempts: 2 } } } : {};
    const nested = depth === 0 && dice.chance(0.15);
    const work = nested
      ? parallel(dice, name, before, 1)
      : leaf(dice, dice.pick(["prompt", "agent", "tool"]), before);
    return { id: name, ...joins, ...retry, ...work };
  });
  return {
    kind: "parallel",
    branches,
    reduce: { strategy: dice.pick(["append", "replace", "barrier"]), into: "all" },
  };
}

function leaf(dice: Dice, kind: "prompt" | "agent" | "tool", before: readonly string[]): JsonObject {
  const given = reference(dice, before);
  if (kind === "tool") {
    const args = dice.pick<JsonObject>([{ q: `about ${given}` }, {}, { n: given }]);
    return { kind, tool: dice.pick(["look", "write", "ship"]), args };
  }
  const shape = dice.chance(0.25) ? { output_schema: "fragments.object" } : {};
  const input = dice.pick<Json>([given, `say ${given}`, { of: given }]);
  if (kind === "prompt") return { kind, prompt_task: "plain", input, ...shape };
  const termination = dice.pick<JsonObject>([
    { max_steps: 2 },
    { tool_called: "look" },
    { max_steps: 1, tool_called: "write" },
  ]);
  const own = dice.chance(0.5) ? { tools: dice.pick([["look"], ["write", "ship", "look"]]) } : {};
  return { kind, prompt_task: dice.pick(["worker", "plain"]), input, termination, ...own, ...shape };
}

const reference = (dice: Dice, before: readonly string[]): string =>
  before.length === 0 || dice.chance(0.3) ? "${input}" : `\${${dice.pick(before)}.output}`;
