// Graphviz. Every identifier is a plain word and every label a quoted string.

import { oneLine } from "./label-text.ts";
import type { GraphEdge, GraphModel, GraphNode } from "./model.ts";
import { captionOf, limitOf, shownLabels } from "./node-facts.ts";
import { nodeIds } from "./node-ids.ts";

const LABELS_MAX = 8;

export function toDot(graph: GraphModel): string {
  const ids = nodeIds(graph);
  const out = [
    "digraph pack {",
    `  label=${quote([`${graph.name} ${graph.version}`])};`,
    '  labelloc="t"; rankdir="TB"; fontname="Helvetica"; forcelabels="true";',
    '  node [shape="box", style="rounded", fontname="Helvetica"];',
    '  edge [fontname="Helvetica", fontsize="11"];',
  ];
  for (const [index, node] of graph.nodes.entries()) out.push(`  ${ids[index]} ${nodeAttributes(node)};`);
  for (const [index, node] of graph.nodes.entries()) out.push(...startsOf(node, ids[index] as string, index));
  for (const edge of graph.edges) out.push(`  ${ids[edge.from]} -> ${ids[edge.to]} ${edgeAttributes(edge)};`);
  return `${[...out, "}"].join("\n")}\n`;
}

function nodeAttributes(node: GraphNode): string {
  const attributes = [`label=${quote([node.name, captionOf(node)].filter((line) => line !== ""))}`];
  if (node.external) attributes.push('shape="hexagon"', 'style="dashed"');
  else if (node.hybrid) attributes.push('shape="hexagon"', 'style="solid"');
  else if (node.composition !== null) attributes.push('shape="component"', 'style="solid"');
  if (node.terminal) attributes.push('peripheries="2"');
  if (limitOf(node) !== "") attributes.push(`xlabel=${quote([limitOf(node)])}`);
  return `[${attributes.join(", ")}]`;
}

function startsOf(node: GraphNode, id: string, index: number): readonly string[] {
  const lines: string[] = [];
  if (node.entry) lines.push('  start [shape="point", width="0.18", label=""];', `  start -> ${id};`);
  for (const [nth, agent] of node.agents.entries()) {
    const agentId = `agent${index}_${nth}`;
    lines.push(
      `  ${agentId} [shape="plaintext", label=${quote([`agent ${agent}`])}];`,
      `  ${agentId} -> ${id};`,
    );
  }
  return lines;
}

function edgeAttributes(edge: GraphEdge): string {
  const style = edge.kind === "redirect" ? ', style="dashed"' : "";
  return `[label=${quote(shownLabels(edge, LABELS_MAX))}${style}]`;
}

/** A label of lines. Graphviz reads backslashes and HTML entities in labels, so both are escaped. */
function quote(lines: readonly string[]): string {
  const escaped = lines.map((line) =>
    oneLine(line).replaceAll("&", "&amp;").replaceAll("\\", "\\\\").replaceAll('"', '\\"'),
  );
  return `"${escaped.join("\\n")}"`;
}
