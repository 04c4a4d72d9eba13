// The termination certificate for people.

import type { CheckedPack } from "../../pack/check-text.ts";
import type { Bound, Verdict } from "../../pack/flow/bound.ts";
import { foldPath } from "../../pack/flow/fold-path.ts";

const verdicts: Readonly<Record<Verdict, string>> = {
  guards: "bounded by guards",
  budget: "bounded by budget",
  time: "bounded by wall time only",
  unbounded: "unbounded",
  undecided: "not decided",
};

/** Ends with a line end; one block per entry point. */
export function boundText(file: string, pack: CheckedPack): string {
  const name = pack.embeddedAs === "" ? file : `${file}#${pack.embeddedAs}`;
  if (pack.bounds.length === 0) return `${name}: no bound, the workflow has no usable entry\n`;
  const several = pack.bounds.length > 1;
  return pack.bounds
    .map((bound) => oneBound(several ? `${name} from ${bound.entry}` : name, bound, pack))
    .join("\n");
}

function oneBound(name: string, bound: Bound, { program }: CheckedPack): string {
  const budget = program.workflow?.budget;
  const facts = [bound.exact ? "exact" : "upper bound", `${bound.configurations} configurations`];
  if (bound.proof !== null) facts.push(`proof: ${bound.proof.kind}`);
  const out = [`${name}: ${verdicts[bound.verdict]}   ${facts.join(" · ")}`];
  out.push(row("visits", bound.visits, perState(bound), budget?.visitsMax));
  out.push(row("model calls", bound.modelCalls, "", budget?.modelCallsMax));
  out.push(row("tool calls", bound.toolCalls, "", budget?.toolCallsMax));
  if (bound.wallTimeSec !== null) out.push(`  wall time   ≤ ${bound.wallTimeSec} s`);
  if (bound.longestRun.length > 0) out.push(`  longest: ${foldPath(bound.longestRun)}`);
  if (bound.witness !== null) {
    const way = foldPath(bound.witness.prefix);
    out.push(`  endless: ${way}${way === "" ? "" : " "}⟲ ${bound.witness.cycle.join(" → ")}`);
  }
  return `${out.join("\n")}\n`;
}

function row(label: string, value: number | null, detail: string, budget: number | null | undefined): string {
  const amount = value === null ? "no limit" : `≤ ${value}`;
  const parts = [`  ${label.padEnd(11)} ${amount}`];
  if (detail !== "") parts.push(detail);
  if (budget !== null && budget !== undefined) parts.push(`budget ${budget}`);
  return parts.join("   ");
}

/** A pack of many states would fill the screen; the certificate file has them all. */
const STATES_SHOWN = 12;

function perState(bound: Bound): string {
  const entries = Object.entries(bound.perState);
  const shown = entries.slice(0, STATES_SHOWN).map(([state, visits]) => `${state} ${visits ?? "∞"}`);
  const more = entries.length - shown.length;
  return more > 0 ? `${shown.join(" · ")} · ${more} more` : shown.join(" · ");
}
