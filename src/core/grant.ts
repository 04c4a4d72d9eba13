// What a caller promises to its agents (S13, S43). The grant stands in the call and counts as used until the
// agent's end says what it really came to, also while an agent that was given up is being stopped. So all
// that is asked for a run at one time fits into its limits, whoever asks next.

import type { Ask, Grant } from "./facts.ts";
import { type OpenAsk, type Run, treeUse } from "./run.ts";

type Kind = keyof Grant;

/** What is spent for the caller, whoever spends it; by the names that packs have for its limits. */
export const SPENDING: readonly (readonly [Kind, string])[] = [
  ["modelCalls", "max_model_calls"],
  ["inputTokens", "max_input_tokens"],
  ["outputTokens", "max_output_tokens"],
  ["costUsd", "max_cost_usd"],
];

export interface Unfit {
  readonly limit: string;
  readonly max: number;
  /** It would fit if agents brought back what they were granted. */
  readonly isPromised: boolean;
}

/** The limit that one more question to a model does not fit into. */
export function unfitModelCall(run: Run): Unfit | undefined {
  const used = treeUse(run);
  const calls = 1 + modelCallsOpen(run);
  for (const isPromised of [false, true])
    for (const [key, limit] of SPENDING) {
      const max = run.limits[key];
      if (max === null) continue;
      // The last call is the best estimate of the next, and of those that are under way in other parts.
      const next = key === "modelCalls" ? 1 : calls * run.lastUsage[key];
      if (used[key] + next + (isPromised ? granted(run, key) : 0) > max) return { limit, max, isPromised };
    }
  return undefined;
}

/** What one of so many who want a share of what is left may spend; undefined without limits on spending. */
export function shareOf(run: Run, { among }: { readonly among: number }): Grant | undefined {
  const used = treeUse(run);
  const calls = modelCallsOpen(run);
  return grantBy(run, (key, limit) => {
    const expected = key === "modelCalls" ? 0 : calls * run.lastUsage[key];
    return (limit - used[key] - expected - granted(run, key)) / among;
  });
}

/**
 * What the agent of an open call may spend. A fork may have got other limits since the call, and calls that
 * were promised nothing, as in journals that knew no grants, share what is left.
 */
export function grantFor(run: Run, step: number): Grant {
  const given = grantOf(run.open[step]?.ask);
  const used = treeUse(run);
  const grant = grantBy(run, (key, limit) => {
    const promised = given?.[key];
    if (promised === undefined) return (limit - used[key] - granted(run, key)) / unpromised(run, key);
    return Math.min(promised, limit - used[key] - granted(run, key, step));
  });
  return grant ?? {};
}

function grantBy({ limits }: Run, left: (key: Kind, limit: number) => number): Grant | undefined {
  const shares = SPENDING.flatMap(([key]) => {
    const limit = limits[key];
    if (limit === null) return [];
    const share = Math.max(0, left(key, limit));
    return [[key, key === "costUsd" ? share : Math.floor(share)] as const];
  });
  return shares.length === 0 ? undefined : Object.fromEntries(shares);
}

/** What agents may still spend that are at work or being stopped; `before`: those of earlier steps. */
function granted({ open }: Run, key: Kind, before = Number.POSITIVE_INFINITY): number {
  let sum = 0;
  for (const [step, { ask }] of Object.entries(open))
    if (Number(step) < before) sum += grantOf(ask)?.[key] ?? 0;
  return sum;
}

/** Agents at work that were promised nothing of that kind; one at least. */
function unpromised({ open }: Run, key: Kind): number {
  const asks = Object.values(open).map(({ ask }) => ask);
  return Math.max(1, asks.filter((ask) => ask.kind === "agent" && ask.grant?.[key] === undefined).length);
}

const grantOf = (ask: Ask | undefined): Grant | undefined =>
  ask?.kind === "agent" || ask?.kind === "stop" ? ask.grant : undefined;

const modelCallsOpen = ({ open }: Run): number =>
  Object.values(open).filter(({ ask }: OpenAsk) => ask.kind === "model").length;
