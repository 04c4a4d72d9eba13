// Progress where nobody watches a screen: plain lines, one per visit, written as the visit ends.

import { visible } from "../../base/screen-text.ts";
import type { Run } from "../../core/run.ts";
import type { VisitNews } from "./visit-log.ts";

/** An agent's line begins with the way to its run. */
export function plainLine(news: VisitNews, path = ""): string {
  return path === "" ? lineOf(news) : `  ${path}${lineOf(news)}`;
}

function lineOf(news: VisitNews): string {
  if (news.kind === "redirected")
    return visible(`  ↪ ${news.to} (${news.hops.join(", ")} reached its limit)`);
  const { state, number, calls } = news.visit;
  const place = `${state.padEnd(16)} ${String(number).padEnd(4)}`;
  if (news.kind === "waits") return visible(`  … ${place} waits`);
  const spent = `${(news.ms / 1000).toFixed(1)} s`;
  return visible(
    `  ${markOf(news)} ${place} ${news.event.padEnd(18)} ${plural(calls, "call").padEnd(9)} ${spent}`,
  );
}

/** What the run has used of what it may use. */
export function usageLine({ limits, used }: Run): string {
  const of = (label: string, value: number, limit: number | null) =>
    `${label} ${value}${limit === null ? "" : `/${limit}`}`;
  return [
    `    ${of("visits", used.visits, limits.visits)}`,
    of("tool calls", used.toolCalls, limits.toolCalls),
    of("model calls", used.modelCalls, limits.modelCalls),
  ].join(" · ");
}

export const markOf = ({ status }: Extract<VisitNews, { kind: "ended" }>): string =>
  status === null || status === "completed" ? "✓" : "✗";

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
