// What a node's box says below its name, and its edges' labels. One wording for every format.

import { oneLine } from "./label-text.ts";
import type { GraphEdge, GraphNode } from "./model.ts";

/** How the state works and which prompt it sends, when the name does not say that already. */
export function captionOf(node: GraphNode): string {
  const facts: string[] = [];
  if (node.current === true) facts.push("here");
  if (node.external) facts.push("external");
  if (node.hybrid) facts.push("hybrid");
  if (node.composition !== null) facts.push(`composition ${oneLine(node.composition)}`);
  else if (node.prompt !== null && node.prompt !== node.name) facts.push(`prompt ${oneLine(node.prompt)}`);
  return facts.join(" · ");
}

const stepsText = ({ steps = [] }: GraphNode): string =>
  steps.length === 0 ? "" : ` (${steps.map(oneLine).join(", ")})`;

/** The guard in two words, or how far a run has used it up; empty for a state without one. */
export function limitOf({ maxVisits, visits }: GraphNode): string {
  if (visits !== undefined) return maxVisits === null ? `×${visits}` : `${visits}/${maxVisits}`;
  return maxVisits === null ? "" : `max ${maxVisits}`;
}

/** The events of an edge, with how often a run took each. */
export const labelsOf = ({ labels, taken }: GraphEdge): readonly string[] =>
  labels.map((label, nth) => `${oneLine(label)}${taken?.[nth] ? ` ×${taken[nth]}` : ""}`);

/** Labels that fit a picture: a long list is cut and counted. */
export function shownLabels(edge: GraphEdge, max: number): readonly string[] {
  const labels = labelsOf(edge);
  return labels.length <= max ? labels : [...labels.slice(0, max - 1), `${labels.length - max + 1} more`];
}

/** The whole node in one sentence, for a tooltip or a screen reader. */
export function sentenceOf(node: GraphNode): string {
  const parts = [oneLine(node.name)];
  if (node.entry) parts.push("entry");
  for (const agent of node.agents) parts.push(`start of agent ${oneLine(agent)}`);
  if (node.terminal) parts.push("end");
  if (node.external) parts.push("waits for an outside event");
  if (node.hybrid) parts.push("moved by the model or from outside");
  if (node.composition !== null)
    parts.push(`runs composition ${oneLine(node.composition)}${stepsText(node)}`);
  else if (node.prompt !== null) parts.push(`prompt ${oneLine(node.prompt)}`);
  if (node.maxVisits !== null) {
    const then = node.onMaxVisits === null ? "the run ends" : oneLine(node.onMaxVisits);
    parts.push(`at most ${node.maxVisits} visits, then ${then}`);
  }
  if (node.visits !== undefined) parts.push(`${node.visits} ${node.visits === 1 ? "visit" : "visits"}`);
  if (node.current === true) parts.push("here");
  return parts.join(", ");
}
