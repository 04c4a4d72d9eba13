// Packs in which many spend for one run at the same time: agents of agents, beside each other and beside
// models, in rounds and in compositions, given up by events; with limits that are soon met.

import type { JsonObject } from "../../src/base/json.ts";
import type { Program } from "../../src/core/program.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import type { Dice } from "./dice.ts";

const prompt = (id: string, tools: readonly string[], rounds = 3): JsonObject => ({
  id,
  name: "P",
  version: "1.0.0",
  system_template: "Go on.",
  ...(tools.length > 0 && { tools, tool_policy: { max_rounds: rounds, max_tool_calls_per_turn: 6 } }),
});

export function spendingProgram(dice: Dice): Program {
  const pack: JsonObject = {
    id: "spenders",
    name: "S",
    version: "1.0.0",
    template_engine: { version: "v1", syntax: "{{variable}}" },
    prompts: {
      lead: prompt("lead", ["scout", "critic", "look", "scout"]),
      scout: prompt("scout", ["critic", "look"], 2),
      critic: prompt("critic", []),
    },
    tools: { look: { name: "look", description: "Look.", action_scope: { effect: "read" } } },
    agents: { entry: "lead", members: { lead: {}, scout: { state: "search" }, critic: {} } },
    compositions: { both: { version: 1, steps: [parallel(dice), prompting("last", "critic")] } },
    workflow: {
      version: 2,
      entry: "lead",
      engine: {
        budget: { max_total_visits: 12, max_tool_calls: 20, max_wall_time_sec: 600 },
        budget_ext: limits(dice),
      },
      states: {
        lead: {
          ...(dice.chance(0.5)
            ? { prompt_task: "lead", orchestration: dice.pick(["hybrid", "internal"]) }
            : { orchestration: "composition", composition: "both" }),
          on_event: { More: "lead", Talk: "talk", End: "end" },
        },
        talk: { prompt_task: "lead", orchestration: "hybrid", on_event: { Back: "lead", End: "end" } },
        end: { prompt_task: "lead", terminal: true },
        search: {
          prompt_task: "scout",
          orchestration: dice.pick(["hybrid", "internal"]),
          max_visits: 2,
          on_max_visits: "found",
          on_event: { Gaps: "search", Enough: "found" },
        },
        found: { prompt_task: "scout", terminal: true },
      },
    },
  };
  const opened = openPack(JSON.stringify(pack), { file: "sim.json" });
  if (!opened.ok) throw opened.toError();
  return opened.program;
}

function limits(dice: Dice): JsonObject {
  return {
    max_model_calls: dice.between(4, 20),
    ...(dice.chance(0.3) && { max_input_tokens: dice.between(200, 1_200) }),
    ...(dice.chance(0.3) && { max_output_tokens: dice.between(100, 600) }),
    ...(dice.chance(0.3) && { max_cost_usd: dice.between(2, 8) }),
  };
}

const prompting = (id: string, name: string): JsonObject => ({ id, kind: "prompt", prompt_task: name });

function parallel(dice: Dice): JsonObject {
  const branches = ["a", "b", "c"].slice(0, dice.between(2, 3)).map((id) => {
    const retry = dice.chance(0.3) ? { modifiers: { retry: { max_attempts: 2 } } } : {};
    return { ...branch(dice, id), ...retry };
  });
  return { id: "all", kind: "parallel", branches, reduce: { strategy: "append", into: "all" } };
}

function branch(dice: Dice, id: string): JsonObject {
  const kind = dice.weighted({ agent: 5, tool: 3, prompt: 2 });
  if (kind === "prompt") return prompting(id, "critic");
  if (kind === "tool") return { id, kind, tool: dice.pick(["scout", "critic"]), args: { query: "it" } };
  return { id, kind, prompt_task: dice.pick(["lead", "scout"]), termination: { max_steps: 3 } };
}
