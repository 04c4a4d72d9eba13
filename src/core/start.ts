// Starting a run: everything that can be wrong is said at once, and nothing is started then (S5, S13, S40).

import { isObject, type Json } from "../base/json.ts";
import { compositionProblem } from "./composition-problem.ts";
import { decided, refused } from "./decision.ts";
import type { Limits } from "./facts.ts";
import { unjudged } from "./guard.ts";
import type { Decision, Refusal, StartInput } from "./input.ts";
import type { BudgetSpec, Program } from "./program.ts";
import type { RunStart } from "./reachable-prompts.ts";
import type { Run } from "./run.ts";
import { skillProblem } from "./skills.ts";
import { resolveVariables } from "./variables.ts";
import { begin } from "./visit.ts";

export function start(program: Program, run: Run, input: StartInput): Decision {
  const where = whereToStart(program, input);
  if ("code" in where) return refused(where);
  const limits = limitsOf(program.workflow?.budget ?? null, input.limits ?? {});
  if ("code" in limits) return refused(limits);
  const unsupported = compositionProblem(program, where) ?? unjudged(program, where) ?? skillProblem(program);
  if (unsupported !== undefined) return refused({ code: "unsupported", what: unsupported });
  const { values, problems } = resolveVariables(program, where, { values: input.variables });
  // What is given up needs none: its name must be taken, whatever it would have been started with.
  if (problems.length > 0 && input.cancelled === undefined)
    return refused({ code: "bad-variables", problems: problems.map((one) => one.message) });
  return decided(program, run, input.at, (turn) => {
    turn.record({
      type: "started",
      digest: input.digest,
      mode: input.mode,
      state: null,
      prompt: where.kind === "prompt" ? where.name : "",
      variables: values,
      input: input.input,
      limits,
      parent: input.parent ?? null,
      wallClock: program.workflow?.wallClock ?? "total",
      gated: gatedTools(program, input.gated ?? []),
      ...(input.host !== undefined && { host: input.host }),
    });
    const { cancelled } = input;
    if (cancelled !== undefined) {
      const { by, reason: message } = cancelled;
      return turn.finish("cancelled", { code: "cancelled", message }, { kind: "cancel", by });
    }
    if (where.kind === "state") turn.enter(where.name, { kind: "entry" }, "");
    return begin(turn, { yields: input.mode === "conversational" && input.input === "" });
  });
}

/**
 * The workflow's entry or the state an agent starts at; without a workflow the prompt that was chosen, or the
 * only one.
 */
export function whereToStart(
  program: Program,
  input: Pick<StartInput, "state" | "prompt">,
): RunStart | Refusal {
  const { workflow } = program;
  if (workflow !== null && input.prompt === undefined) {
    const name = input.state ?? workflow.entry;
    const known = Object.keys(workflow.states);
    return known.includes(name) ? { kind: "state", name } : { code: "unknown-state", state: name, known };
  }
  const known = Object.keys(program.prompts);
  const only = known.length === 1 ? known[0] : undefined;
  const name = input.prompt ?? program.agents?.entry ?? only ?? "";
  return known.includes(name) ? { kind: "prompt", name } : { code: "unknown-prompt", prompt: name, known };
}

const PACK_LIMITS: readonly (readonly [keyof Limits, string, (budget: BudgetSpec) => number | null])[] = [
  ["visits", "max_total_visits", (budget) => budget.visitsMax],
  ["toolCalls", "max_tool_calls", (budget) => budget.toolCallsMax],
  [
    "wallMs",
    "max_wall_time_sec",
    (budget) => (budget.wallTimeSec === null ? null : budget.wallTimeSec * 1000),
  ],
  ["modelCalls", "max_model_calls", (budget) => budget.modelCallsMax],
  ["inputTokens", "max_input_tokens", (budget) => budget.inputTokensMax],
  ["outputTokens", "max_output_tokens", (budget) => budget.outputTokensMax],
  ["costUsd", "max_cost_usd", (budget) => budget.costUsdMax],
];

/** The limits a pack sets, before anybody tightens them. */
export function packLimits(program: Program): Limits {
  const { workflow } = program;
  const all = PACK_LIMITS.map(([key, , ofPack]) => [key, workflow === null ? null : ofPack(workflow.budget)]);
  return Object.fromEntries(all) as Limits;
}

/** S13: what is given from outside may only tighten. */
function limitsOf(budget: BudgetSpec | null, given: Partial<Limits>): Limits | Refusal {
  const limits: Record<string, number | null> = {};
  for (const [key, name, ofPack] of PACK_LIMITS) {
    const pack = budget === null ? null : ofPack(budget);
    const wanted = given[key] ?? null;
    if (wanted !== null && pack !== null && wanted > pack)
      return { code: "bad-limit", limit: name, value: wanted, pack };
    limits[key] = wanted ?? pack;
  }
  return limits as unknown as Limits;
}

/** S31: consequential tools under `acts_with_approval`, and tools the caller names. */
export function gatedTools(program: Program, named: readonly string[]): readonly string[] {
  const governance = program.metadata["governance"];
  const level: Json | undefined = isObject(governance) ? governance["autonomy_level"] : undefined;
  const consequential = Object.entries(program.tools).filter(([, tool]) => {
    return tool.actionScope["effect"] === "external" || tool.actionScope["reversibility"] === "irreversible";
  });
  const byPack = level === "acts_with_approval" ? consequential.map(([name]) => name) : [];
  return [...new Set([...byPack, ...named])].sort();
}
