// How large the parts of a drawing are. Only estimates of text widths go in, so the result is the same on
// every machine.

import type { Point } from "./curve.ts";
import { clip, oneLine, textWidth, wrap } from "./label-text.ts";
import type { GraphEdge, GraphNode } from "./model.ts";
import { captionOf, limitOf, shownLabels } from "./node-facts.ts";

export const sizes = {
  name: 14,
  nameLine: 18,
  caption: 11,
  captionLine: 16,
  label: 12,
  labelLine: 16,
  badge: 11,
  badgeHeight: 18,
  badgeGap: 8,
  /** The slanted end of a hexagon. */
  notch: 14,
  /** How far a loop leaves its box. */
  loop: 34,
  /** The arrow from an agent to the box. */
  lead: 30,
  /** An agent and the space to the next one below. */
  agentHeight: 24,
  agentStep: 30,
  /** The dot before the entry. */
  dot: 14,
} as const;

/** Centre and extent. */
export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

type Extent = Omit<Box, "x" | "y">;

export interface NodeBox extends Extent {
  readonly node: GraphNode;
  readonly lines: readonly string[];
  readonly linesWidth: number;
  readonly caption: string;
  /** The guard, in a badge right of the name. */
  readonly badge: string;
  readonly badgeWidth: number;
  readonly agents: readonly AgentBox[];
  /** The space left of the box that its agents take. */
  readonly lead: number;
}

export interface LabelBox extends Extent {
  readonly edge: GraphEdge;
  readonly lines: readonly string[];
}

/** An agent that begins at a node: its name left of the box, with an arrow into it. */
export interface AgentBox extends Extent {
  readonly agent: string;
}

const NAME_COLUMNS = 26;
const NAME_LINES = 3;
const CAPTION_COLUMNS = 42;
const LABEL_COLUMNS = 34;
const LABELS_MAX = 5;
const PAD = 18;
const WIDTH_MIN = 96;
const HEIGHT_MIN = 44;

export function nodeBox(node: GraphNode): NodeBox {
  const lines = wrap(oneLine(node.name), NAME_COLUMNS, NAME_LINES);
  const caption = clip(captionOf(node), CAPTION_COLUMNS);
  const badge = limitOf(node);
  const badgeWidth = badge === "" ? 0 : textWidth(badge, sizes.badge) + 14;
  const linesWidth = Math.max(...lines.map((line) => textWidth(line, sizes.name)));
  const title = linesWidth + (badge === "" ? 0 : sizes.badgeGap + badgeWidth);
  const text = Math.max(title, textWidth(caption, sizes.caption));
  const slanted = node.external || node.hybrid || node.composition !== null;
  const width = Math.max(WIDTH_MIN, text + 2 * PAD + (slanted ? sizes.notch : 0));
  const textHeight = lines.length * sizes.nameLine + (caption === "" ? 0 : sizes.captionLine);
  const agents = node.agents.map(agentBox);
  const lead = agents.length === 0 ? 0 : Math.max(...agents.map((agent) => agent.width)) + sizes.lead;
  const height = Math.max(HEIGHT_MIN, textHeight + 24, agents.length * sizes.agentStep);
  return { node, lines, linesWidth, caption, badge, badgeWidth, agents, lead, width, height };
}

export function labelBox(edge: GraphEdge): LabelBox {
  const lines = shownLabels(edge, LABELS_MAX).map((label) => clip(label, LABEL_COLUMNS));
  const width = Math.max(...lines.map((line) => textWidth(line, sizes.label))) + 12;
  return { edge, lines, width, height: lines.length * sizes.labelLine + 4 };
}

function agentBox(name: string): AgentBox {
  const agent = clip(`agent ${oneLine(name)}`, LABEL_COLUMNS);
  return { agent, width: textWidth(agent, sizes.label) + 20, height: sizes.agentHeight };
}
