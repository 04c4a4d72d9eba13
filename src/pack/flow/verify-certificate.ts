// Checks a certificate against its pack without trusting whoever made it: ranks must fall along every step
// that is left when all guards are exhausted, an endless run must replay with the engine's own rule of
// entering, and the numbers must fit together. Where the proof is an exploration, the exploration is done
// again.

import { type Flow, type FlowState, flowOf, isGuarded, NONE, resolveEntry } from "../../core/flow.ts";
import type { BudgetSpec, Program } from "../../core/program.ts";
import { visitLimits } from "../../core/visit-limits.ts";
import { analyse } from "./analysis.ts";
import { type Proof, promptBound } from "./bound.ts";
import type { Certificate } from "./certificate.ts";
import { setTest } from "./set-test.ts";

/** Why the certificate does not hold for this pack; undefined when it does. */
export function refutation(
  certificate: Certificate,
  { program, digest }: { readonly program: Program; readonly digest: string },
): string | undefined {
  if (certificate.pack.digest !== digest)
    return `it is for \`${certificate.pack.digest}\`, this is \`${digest}\``;
  if (program.workflow === null) return wrongPrompt(certificate, program);
  const flow = flowOf(program);
  const start = flow.states.findIndex((state) => state.name === certificate.entry);
  if (start === NONE) return `its entry \`${certificate.entry}\` is not a state`;
  const question = { certificate, flow, start, budget: program.workflow.budget };
  return wrongVerdict(question) ?? wrongVisits(question) ?? wrongCalls(question, program);
}

function wrongPrompt({ visits, model_calls, tool_calls }: Certificate, program: Program): string | undefined {
  if (visits !== 1) return "a pack without workflow is one visit";
  const { modelCalls, toolCalls } = promptBound(program);
  return model_calls === modelCalls && tool_calls === toolCalls
    ? undefined
    : "its prompts allow other numbers of calls";
}

interface Case {
  readonly certificate: Certificate;
  readonly flow: Flow;
  readonly start: number;
  readonly budget: BudgetSpec;
}

function wrongVerdict({ certificate, flow, start, budget }: Case): string | undefined {
  const { verdict, proof, witness, exact } = certificate;
  if (verdict === "guards") {
    return proof === null
      ? "it claims a bound without a proof"
      : wrongProof(proof, { certificate, flow, start });
  }
  if (verdict === "budget" && budget.visitsMax === null) return "the pack has no `max_total_visits`";
  if (verdict === "time" && budget.wallTimeSec === null) return "the pack has no `max_wall_time_sec`";
  const suspected = witness === null || witness.prefix.length === 0;
  if (suspected) return exact || verdict === "unbounded" ? "it shows no endless run" : undefined;
  return replays(witness, flow, start) ? undefined : "its endless run does not replay";
}

function wrongProof(proof: Proof, { certificate, flow, start }: Omit<Case, "budget">): string | undefined {
  if (proof.kind === "rank") return wrongRank(flow, proof.rank);
  if (proof.kind === "sets") {
    return setTest(flow, start).kind === "bounded" ? undefined : "sets of exhausted guards leave a cycle";
  }
  const { exact, lassos, graph } = analyse(flow, start, certificate.configurations);
  if (!exact || graph.exploration.count !== certificate.configurations)
    return "there are more configurations";
  return lassos.length === 0 ? undefined : "exploration finds an endless run";
}

function wrongRank(flow: Flow, rank: Readonly<Record<string, number>>): string | undefined {
  const exhausted = flow.states.map((state) => (isGuarded(state) ? state.visitsMax : 0));
  const rankOf = (state: FlowState) => (Object.hasOwn(rank, state.name) ? (rank[state.name] as number) : NaN);
  for (const state of flow.states) {
    if (isGuarded(state)) continue;
    if (!Number.isInteger(rankOf(state)) || rankOf(state) < 0) return `\`${state.name}\` has no rank`;
    for (const { target } of state.events) {
      const entered = flow.states[resolveEntry(flow, target, exhausted)];
      if (entered === undefined || rankOf(entered) < rankOf(state)) continue;
      return `the rank does not fall from \`${state.name}\` to \`${entered.name}\``;
    }
  }
  return undefined;
}

/**
 * The run leads to the cycle, and the cycle back to the same configuration: none of its states is counted.
 */
function replays(witness: NonNullable<Certificate["witness"]>, flow: Flow, start: number): boolean {
  const { prefix, cycle } = witness;
  const visits = flow.states.map(() => 0);
  let current = start;
  visits[current] = 1;
  for (const name of [...prefix.slice(1), ...cycle]) {
    const reached = (flow.states[current] as FlowState).events.map(({ target }) =>
      resolveEntry(flow, target, visits),
    );
    const next = reached.find((state) => flow.states[state]?.name === name);
    if (next === undefined) return false;
    current = next;
    visits[current] = (visits[current] as number) + 1;
  }
  const isUnguarded = (name: string) => flow.states.some((state) => state.name === name && !isGuarded(state));
  return flow.states[start]?.name === prefix[0] && cycle.at(-1) === prefix.at(-1) && cycle.every(isUnguarded);
}

function wrongVisits({ certificate, flow, budget }: Case): string | undefined {
  const { per_state, visits, verdict } = certificate;
  const finite = verdict === "guards" || verdict === "budget";
  if (finite && visits === null) return "it claims a bound without a number of visits";
  if (!finite && visits !== null) return "it gives a number of visits where none holds";
  const most = visits ?? Infinity;
  if (most > (budget.visitsMax ?? Infinity)) return "it allows more visits than `max_total_visits`";
  let sum = 0;
  for (const [name, count] of Object.entries(per_state)) {
    const state = flow.states.find((one) => one.name === name);
    if (state === undefined) return `\`${name}\` is not a state`;
    if ((count ?? Infinity) > state.visitsMax) return `it allows more visits of \`${name}\` than its guard`;
    if ((count ?? Infinity) > most) return `it allows more visits of \`${name}\` than in all`;
    sum += count ?? Infinity;
  }
  return most > sum ? "it allows more visits than its states together" : undefined;
}

function wrongCalls({ certificate, budget }: Case, program: Program): string | undefined {
  const sum = { modelCalls: 0, toolCalls: 0 };
  for (const [name, count] of Object.entries(certificate.per_state)) {
    const each = visitLimits(program, name);
    if (each.modelCalls > 0) sum.modelCalls += (count ?? Infinity) * each.modelCalls;
    if (each.toolCalls > 0) sum.toolCalls += (count ?? Infinity) * each.toolCalls;
  }
  const { model_calls, tool_calls, with_children } = certificate;
  if ((model_calls ?? Infinity) > Math.min(sum.modelCalls, budget.modelCallsMax ?? Infinity)) {
    return "it allows more model calls than its states together, or than the budget";
  }
  if ((tool_calls ?? Infinity) > Math.min(sum.toolCalls, budget.toolCallsMax ?? Infinity)) {
    return "it allows more tool calls than its states together, or than the budget";
  }
  const total = [with_children.visits, with_children.model_calls, with_children.tool_calls];
  const own = [certificate.visits, model_calls, tool_calls];
  const less = total.some((number, i) => (number ?? Infinity) < (own[i] ?? Infinity));
  return less ? "a run with its children cannot cost less than alone" : undefined;
}
