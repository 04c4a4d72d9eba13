// The graph as one self-contained SVG file: no script, no font, nothing loaded. Shapes and words carry the
// meaning, colour only repeats it.

import { type Box, sizes } from "./boxes.ts";
import { curveThrough, number } from "./curve.ts";
import { oneLine } from "./label-text.ts";
import { type Drawing, drawingOf, type PlacedAgent, type PlacedEdge, type PlacedNode } from "./layout.ts";
import type { GraphModel, GraphNode } from "./model.ts";
import { labelsOf, sentenceOf } from "./node-facts.ts";
import { style } from "./svg-style.ts";

export function toSvg(graph: GraphModel): string {
  const drawing = drawingOf(graph);
  const { width, height } = drawing;
  const title = `${graph.name} ${graph.version}`;
  const out = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="${width}" height="${height}"` +
      ` viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<desc>${escapeXml(describe(graph))}</desc>`,
    `<style type="text/css">${style}</style>`,
    `<defs>${["head", "start-head", "redirect-head"].map(marker).join("")}</defs>`,
    `<rect class="ground" width="${width}" height="${height}" rx="10"/>`,
    ...paint(drawing),
    "</svg>",
  ];
  return `${out.join("\n")}\n`;
}

/** Lines below, boxes over them, labels on top. */
function paint({ nodes, edges, agents, start }: Drawing): readonly string[] {
  return [
    ...(start === undefined ? [] : [startShape(start)]),
    ...edges.map((edge) => edgeLine(edge, nodes)),
    ...agents.map(agentShape),
    ...nodes.map(nodeShape),
    ...edges.map(edgeLabel),
  ];
}

function describe(graph: GraphModel): string {
  const nameOf = (index: number) => oneLine(graph.nodes[index]?.name ?? "");
  const nodes = graph.nodes.map((node) => `${sentenceOf(node)}.`);
  const edges = graph.edges.map((edge) => {
    return `${nameOf(edge.from)} to ${nameOf(edge.to)}: ${labelsOf(edge).join(", ")}.`;
  });
  return [...nodes, ...edges].join(" ");
}

const marker = (name: string): string =>
  `<marker id="packloop-${name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9"` +
  ` markerUnits="userSpaceOnUse" orient="auto"><path class="${name}" d="M0 1 L10 5 L0 9 Z"/></marker>`;

function startShape({ dot, points }: NonNullable<Drawing["start"]>): string {
  const circle = `<circle class="dot" cx="${number(dot.x)}" cy="${number(dot.y)}" r="${sizes.dot / 2}"/>`;
  return `${arrow("start", curveThrough(points), "start-head")}${circle}`;
}

function agentShape(placed: PlacedAgent): string {
  const { agent, x, y, height } = placed;
  const [from, to] = placed.arrow;
  const line = arrow("start", `M${number(from.x)} ${number(from.y)} H${number(to.x)}`, "start-head");
  const text = `<text class="label agent" x="${number(x)}" y="${number(y + 4)}">${escapeXml(agent)}</text>`;
  return `${line}${rect("pill", placed, height / 2)}${text}`;
}

function edgeLine({ edge, points }: PlacedEdge, nodes: readonly PlacedNode[]): string {
  const path = edge.from === edge.to ? loopOf(nodes[edge.from] as PlacedNode) : curveThrough(points);
  return edge.kind === "redirect" ? arrow("redirect", path, "redirect-head") : arrow("event", path, "head");
}

const arrow = (kind: string, path: string, head: string): string =>
  `<path class="edge ${kind}" d="${path}" marker-end="url(#packloop-${head})"/>`;

/** Out of the right side and back into it below. */
function loopOf({ x, y, width }: PlacedNode): string {
  const side = number(x + width / 2);
  const out = number(x + width / 2 + sizes.loop * 1.25);
  const [high, low] = [`${out} ${number(y - 26)}`, `${out} ${number(y + 26)}`];
  return `M${side} ${number(y - 11)} C${high} ${low} ${side} ${number(y + 11)}`;
}

function nodeShape(placed: PlacedNode): string {
  const { node } = placed;
  const title = `<title>${escapeXml(sentenceOf(node))}</title>`;
  return `<g class="${classesOf(node)}">${title}${outline(placed)}${words(placed)}</g>`;
}

function classesOf(node: GraphNode): string {
  const classes = ["node"];
  for (const flag of ["entry", "terminal", "external", "hybrid", "guarded"] as const) {
    if (node[flag]) classes.push(flag);
  }
  if (node.composition !== null) classes.push("composition");
  if (node.current === true) classes.push("current");
  if (node.visits === 0) classes.push("unvisited");
  return classes.join(" ");
}

function outline(placed: PlacedNode): string {
  const { node, x, y, width, height } = placed;
  const inset = { x, y, width: width - 8, height: height - 8 };
  if (node.external || node.hybrid) {
    const inner = node.terminal ? hexagon("inner", inset) : "";
    return `${hexagon("box", placed)}${inner}`;
  }
  const box = rect("box", placed, 10);
  const inner = node.terminal ? rect("inner", inset, 7) : "";
  return `${box}${inner}${node.composition === null ? "" : bars(placed)}`;
}

const rect = (name: string, { x, y, width, height }: Box, radius: number): string =>
  `<rect class="${name}" x="${number(x - width / 2)}" y="${number(y - height / 2)}"` +
  ` width="${number(width)}" height="${number(height)}" rx="${radius}"/>`;

function hexagon(name: string, { x, y, width, height }: Box): string {
  const [left, right, top, bottom] = [x - width / 2, x + width / 2, y - height / 2, y + height / 2];
  const corners = [
    [left, y],
    [left + sizes.notch, top],
    [right - sizes.notch, top],
    [right, y],
    [right - sizes.notch, bottom],
    [left + sizes.notch, bottom],
  ] as const;
  const points = corners.map(([cx, cy]) => `${number(cx)},${number(cy)}`).join(" ");
  return `<polygon class="${name}" stroke-linejoin="round" points="${points}"/>`;
}

/** The bars of a subroutine: the work of the state is a graph of its own. */
function bars({ x, y, width, height }: Box): string {
  const [top, bottom] = [number(y - height / 2), number(y + height / 2)];
  return [x - width / 2 + 9, x + width / 2 - 9]
    .map((at) => `<path class="inner" d="M${number(at)} ${top} V${bottom}"/>`)
    .join("");
}

function words(placed: PlacedNode): string {
  const { x, y, lines, linesWidth, caption, badge, badgeWidth } = placed;
  const textHeight = lines.length * sizes.nameLine + (caption === "" ? 0 : sizes.captionLine);
  const top = y - textHeight / 2;
  const shift = badge === "" ? 0 : (sizes.badgeGap + badgeWidth) / 2;
  const out = lines.map((line, nth) => {
    const base = top + nth * sizes.nameLine + 13;
    return `<text class="name" x="${number(x - shift)}" y="${number(base)}">${escapeXml(line)}</text>`;
  });
  if (badge !== "") {
    const middle = x - shift + linesWidth / 2 + sizes.badgeGap + badgeWidth / 2;
    const line = top + (lines.length * sizes.nameLine) / 2 - 0.5;
    const box = { x: middle, y: line, width: badgeWidth, height: sizes.badgeHeight };
    out.push(rect("badge", box, sizes.badgeHeight / 2));
    out.push(
      `<text class="badge-text" x="${number(middle)}" y="${number(line + 4)}">${escapeXml(badge)}</text>`,
    );
  }
  if (caption !== "") {
    const base = top + lines.length * sizes.nameLine + 11;
    out.push(`<text class="caption" x="${number(x)}" y="${number(base)}">${escapeXml(caption)}</text>`);
  }
  return out.join("");
}

function edgeLabel({ edge, lines, x, y, width, height }: PlacedEdge): string {
  const name = edge.kind === "redirect" ? "label redirect-label" : "label";
  const top = y - (lines.length * sizes.labelLine) / 2;
  const texts = lines.map((line, nth) => {
    const base = top + nth * sizes.labelLine + 12;
    return `<text class="${name}" x="${number(x)}" y="${number(base)}">${escapeXml(line)}</text>`;
  });
  const full = `<title>${escapeXml(labelsOf(edge).join(", "))}</title>`;
  return `<g>${full}${rect("behind", { x, y, width, height }, 4)}${texts.join("")}</g>`;
}

function escapeXml(text: string): string {
  return oneLine(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
