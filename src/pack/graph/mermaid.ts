// Mermaid, for Markdown pages. A flowchart and not a state diagram: only flowcharts have dashed arrows and
// shapes, and their quoted labels take any text.

import { oneLine } from "./label-text.ts";
import type { GraphEdge, GraphModel, GraphNode } from "./model.ts";
import { captionOf, limitOf, shownLabels } from "./node-facts.ts";
import { nodeIds } from "./node-ids.ts";

const LABELS_MAX = 8;

export function toMermaid(graph: GraphModel): string {
  const ids = nodeIds(graph);
  const out = ["flowchart TD", `  %% ${escapeLabel(`${graph.name} ${graph.version}`)}`];
  for (const [index, node] of graph.nodes.entries()) out.push(`  ${ids[index]}${shapeOf(node)}`);
  for (const [index, node] of graph.nodes.entries()) out.push(...startsOf(node, ids[index] as string, index));
  for (const edge of graph.edges) {
    const arrow = edge.kind === "redirect" ? "-.->" : "-->";
    out.push(`  ${ids[edge.from]} ${arrow}|"${edgeLabel(edge)}"| ${ids[edge.to]}`);
  }
  return `${out.join("\n")}\n`;
}

function shapeOf(node: GraphNode): string {
  const lines = [oneLine(node.name), limitOf(node), captionOf(node)].filter((line) => line !== "");
  const label = `"${lines.map(escapeLabel).join("<br/>")}"`;
  if (node.terminal) return `(((${label})))`;
  if (node.external || node.hybrid) return `{{${label}}}`;
  if (node.composition !== null) return `[[${label}]]`;
  return `(${label})`;
}

/** A filled dot for the entry; a named circle for each agent that begins here. */
function startsOf(node: GraphNode, id: string, index: number): readonly string[] {
  const lines: string[] = [];
  if (node.entry) {
    lines.push('  start((" "))', `  start --> ${id}`, "  style start fill:#64748b,stroke:#64748b");
  }
  for (const [nth, agent] of node.agents.entries()) {
    const agentId = `agent${index}_${nth}`;
    lines.push(`  ${agentId}(["${escapeLabel(`agent ${oneLine(agent)}`)}"])`, `  ${agentId} --> ${id}`);
  }
  return lines;
}

const edgeLabel = (edge: GraphEdge): string => shownLabels(edge, LABELS_MAX).map(escapeLabel).join("<br/>");

/**
 * Everything that Mermaid, its Markdown or HTML could read as syntax becomes a numeric entity, which Mermaid
 * decodes last of all. The degree and pilcrow signs are in the list because Mermaid marks entities with them.
 */
function escapeLabel(text: string): string {
  return oneLine(text).replace(/[\u0021-\u007e°¶]/gu, (char, at: number, all: string) => {
    if (/[A-Za-z0-9]/.test(char)) return char;
    const joins = /[_-]/.test(char) && isWord(all[at - 1]) && isWord(all[at + 1]);
    return joins ? char : `#${char.codePointAt(0)};`;
  });
}

const isWord = (char: string | undefined): boolean => char !== undefined && /[A-Za-z0-9]/.test(char);
