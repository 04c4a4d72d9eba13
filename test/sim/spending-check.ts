// What is spent for a run, by whom ever, against its limits (S13, S43): its own use, that of the agents it has
// heard of, and what was granted to those that are at work or being stopped.

import type { CallAsk, Grant, Limits } from "../../src/core/facts.ts";
import type { Books } from "./books.ts";
import { claim } from "./claim.ts";

const KINDS = ["modelCalls", "inputTokens", "outputTokens", "costUsd"] as const;

/** Sums of shares of a sum are not the sum to the last bit. */
const CRUMB = 1e-9;

/** The run's own use and that of its agents, as far as it has heard. */
export const usedFor = ({ used, agents }: Books, kind: keyof Grant): number => used[kind] + agents[kind];

export function checkModelFits(books: Books, limits: Limits): void {
  const over = unfit(books, limits, granted);
  claim(over === undefined, `I5: a model is asked beyond the limit of ${over}, what agents have included`);
}

export function checkGrant(books: Books, limits: Limits, { kind, grant }: CallAsk): void {
  if (kind !== "agent") return;
  const calls = books.openOf("model").length;
  for (const one of KINDS) {
    const limit = limits[one];
    const given = grant?.[one];
    claim((limit === null) === (given === undefined), `S43: an agent is granted no ${one}, or too many`);
    if (limit === null || given === undefined || given === 0) continue;
    const next = one === "modelCalls" ? 0 : calls * books.lastUsage[one];
    claim(
      usedFor(books, one) + next + granted(books, one) + given <= limit + CRUMB,
      `S43: an agent is granted ${given} ${one}, which are not left`,
    );
  }
}

/** S43: a child has what its caller granted it, and no more. */
export function checkChild(limits: Limits, grant: Grant | undefined): void {
  for (const one of KINDS) {
    const given = grant?.[one];
    const has = limits[one];
    claim(
      given === undefined || (has !== null && has <= given),
      `S43: an agent has more ${one} than granted`,
    );
  }
}

/** What waits does so for somebody who may bring something back, and no longer than it must. */
export function checkStalled(books: Books, limits: Limits): void {
  if (books.stalled.size === 0) return;
  claim(unfit(books, limits, granted) !== undefined, "a question waits although there is room for it");
  claim(unfit(books, limits, () => 0) === undefined, "S13: a question waits for what nobody can bring back");
}

function unfit(books: Books, limits: Limits, promised: typeof granted): string | undefined {
  const calls = 1 + books.openOf("model").length;
  return KINDS.find((one) => {
    const limit = limits[one];
    const next = one === "modelCalls" ? 1 : calls * books.lastUsage[one];
    return limit !== null && usedFor(books, one) + next + promised(books, one) > limit + CRUMB;
  });
}

function granted(books: Books, kind: keyof Grant): number {
  let sum = 0;
  for (const [, { ask }] of books.openOf("agent", "stop"))
    if (ask.kind === "agent" || ask.kind === "stop") sum += ask.grant?.[kind] ?? 0;
  return sum;
}
