// The graph for a terminal: one block per state in the order a run meets them, its ways out below it.

import { clip, columns, oneLine } from "./label-text.ts";
import type { GraphEdge, GraphModel, GraphNode } from "./model.ts";
import { captionOf, labelsOf, limitOf } from "./node-facts.ts";
import { type ReadingOrder, readingOrder } from "./order.ts";

/** Wider labels are cut, so that targets stay in one column. */
const LABEL_MAX = 40;
const NAME_MAX = 60;
const LEGEND_MAX = 78;

export function toAscii(graph: GraphModel): string {
  const reading = readingOrder(graph);
  const edgesByNode: GraphEdge[][] = graph.nodes.map(() => []);
  // A redirect is told in the head of its state.
  const edges = graph.edges.filter((edge) => edge.kind !== "redirect");
  for (const edge of edges) edgesByNode[edge.from]?.push(edge);
  const labelWidth = Math.max(0, ...edges.map((edge) => columns(labelOf(edge))));
  const wide = graph.nodes.some((node) => startMark(node) !== "" && shapeMark(node) !== "");
  const sheet: Sheet = { graph, reading, edgesByNode, labelWidth, markWidth: wide ? 2 : 1 };
  const blocks = reading.order.map((index) => blockOf(sheet, index));
  if (reading.reached < blocks.length) blocks.splice(reading.reached, 0, "not reached by any run:");
  const head = `${oneLine(graph.name)} ${oneLine(graph.version)}`;
  return `${[head, ...blocks, legend(sheet)].filter((part) => part !== "").join("\n\n")}\n`;
}

interface Sheet {
  readonly graph: GraphModel;
  readonly reading: ReadingOrder;
  readonly edgesByNode: readonly (readonly GraphEdge[])[];
  readonly labelWidth: number;
  readonly markWidth: number;
}

function blockOf(sheet: Sheet, index: number): string {
  const node = sheet.graph.nodes[index] as GraphNode;
  const edges = sheet.edgesByNode[index] as readonly GraphEdge[];
  const shape = shapeMark(node);
  const mark =
    sheet.markWidth === 2
      ? `${startMark(node).padEnd(1)}${shape.padEnd(1)}`
      : `${startMark(node)}${shape}`.padEnd(1);
  const facts = factsOf(node);
  const head = `${mark} ${nameOf(node)}${facts === "" ? "" : `  (${facts})`}`;
  const rows = edges.map((edge, nth) => rowOf(sheet, edge, nth === edges.length - 1));
  return [head, ...rows].join("\n");
}

function rowOf({ graph, reading, labelWidth, markWidth }: Sheet, edge: GraphEdge, last: boolean): string {
  const label = labelOf(edge);
  const rule = "─".repeat(labelWidth - columns(label) + 3);
  const target = nameOf(graph.nodes[edge.to] as GraphNode);
  const indent = " ".repeat(markWidth + 2);
  return `${indent}${last ? "└" : "├"}─ ${label} ${rule}${arrowOf(reading, edge)} ${target}`;
}

/** An arrow to a state shown above, or to the same one, closes a loop. */
function arrowOf({ placeOf }: ReadingOrder, { from, to }: GraphEdge): string {
  return (placeOf[to] as number) <= (placeOf[from] as number) ? "↺" : "▶";
}

const nameOf = ({ name }: GraphNode): string => clip(oneLine(name), NAME_MAX);

const labelOf = (edge: GraphEdge): string => clip(labelsOf(edge).join(" | "), LABEL_MAX);

function startMark(node: GraphNode): string {
  if (node.entry) return "▶";
  return node.agents.length > 0 ? "▷" : "";
}

function shapeMark(node: GraphNode): string {
  if (node.terminal) return "■";
  if (node.external) return "◇";
  if (node.hybrid) return "◈";
  return node.composition === null ? "" : "▣";
}

function factsOf(node: GraphNode): string {
  const facts: string[] = [];
  if (node.maxVisits !== null) {
    const { onMaxVisits } = node;
    const then = onMaxVisits === null ? ", then the run ends" : ` ↪ ${clip(oneLine(onMaxVisits), NAME_MAX)}`;
    facts.push(`${limitOf(node)}${then}`);
  } else if (limitOf(node) !== "") facts.push(limitOf(node));
  for (const agent of node.agents) facts.push(`agent ${oneLine(agent)}`);
  const caption = captionOf(node);
  if (caption !== "") facts.push(caption);
  return facts.join(" · ");
}

/** Only the marks this picture has. */
function legend({ graph, reading }: Sheet): string {
  const { nodes, edges } = graph;
  const events = edges.filter((edge) => edge.kind !== "redirect");
  const entries: readonly (readonly [boolean, string])[] = [
    [nodes.some((node) => startMark(node) === "▶"), "▶ entry"],
    [nodes.some((node) => startMark(node) === "▷"), "▷ entry of an agent"],
    [nodes.some((node) => shapeMark(node) === "■"), "■ end"],
    [nodes.some((node) => shapeMark(node) === "◇"), "◇ waits for an outside event"],
    [nodes.some((node) => shapeMark(node) === "◈"), "◈ moved by the model or from outside"],
    [nodes.some((node) => shapeMark(node) === "▣"), "▣ composition"],
    [events.some((edge) => arrowOf(reading, edge) === "↺"), "↺ back"],
    [nodes.some((node) => node.onMaxVisits !== null), "↪ at the visit limit"],
  ];
  const lines = [""];
  for (const [used, text] of entries) {
    if (!used) continue;
    const line = lines.at(-1) as string;
    const longer = line === "" ? text : `${line}   ${text}`;
    if (columns(longer) > LEGEND_MAX) lines.push(text);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("\n");
}
