// The graph of a pack: the same pack gives the same picture. Only who looks at it moves the camera. Shapes
// and words carry what a state is; colour repeats it.

import { type PointerEvent, useRef, useState, type WheelEvent } from "react";
import { sizes } from "../../../src/pack/graph/boxes.ts";
import { curveThrough } from "../../../src/pack/graph/curve.ts";
import type { Drawing, PlacedAgent, PlacedEdge, PlacedNode } from "../../../src/pack/graph/layout.ts";
import { sentenceOf } from "../../../src/pack/graph/node-facts.ts";
import { wayKey } from "../journal/way-key.ts";
import { visible } from "./format.ts";

export interface Overlay {
  readonly visits: Readonly<Record<string, number>>;
  readonly ways: Readonly<Record<string, number>>;
  readonly current: string | null;
  /** The state that the trace is narrowed to. */
  readonly only: string | null;
}

interface GraphProps {
  readonly drawing: Drawing;
  readonly overlay?: Overlay;
  readonly pick?: (state: string) => void;
  /** Keys of ways to point out. */
  readonly path?: ReadonlySet<string> | undefined;
}

interface Camera {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

const NO_WAYS: ReadonlySet<string> = new Set();
const START: Camera = { x: 0, y: 0, zoom: 1 };
const ZOOM = { least: 0.2, most: 6, step: 1.25 };

export function PackGraph({ drawing, overlay, pick, path = NO_WAYS }: GraphProps) {
  const [camera, setCamera] = useState(START);
  const zoom = (by: number) => setCamera((before) => zoomed(before, by, drawing));
  const wheel = (event: WheelEvent): void => {
    if (event.ctrlKey || event.metaKey) zoom(event.deltaY < 0 ? ZOOM.step : 1 / ZOOM.step);
  };
  const { width, height } = drawing;
  const box = `${camera.x} ${camera.y} ${width / camera.zoom} ${height / camera.zoom}`;
  const drag = useDrag(camera, setCamera, width);
  return (
    <div className="graph">
      <div className="graph-tools" role="group" aria-label="Camera">
        <button type="button" className="button icon" aria-label="Closer" onClick={() => zoom(ZOOM.step)}>
          +
        </button>
        <button
          type="button"
          className="button icon"
          aria-label="Farther"
          onClick={() => zoom(1 / ZOOM.step)}
        >
          −
        </button>
        <button
          type="button"
          className="button icon"
          aria-label="Whole graph"
          onClick={() => setCamera(START)}
        >
          ⤢
        </button>
      </div>
      <svg
        className="graph-svg"
        viewBox={box}
        onPointerDown={drag}
        onWheel={wheel}
        role="group"
        aria-label="States and events"
      >
        <defs>
          <Head name="head" />
          <Head name="redirect-head" />
        </defs>
        {drawing.start !== undefined && (
          <g className="g-start">
            <path d={curveThrough(drawing.start.points)} markerEnd="url(#head)" />
            <circle cx={drawing.start.dot.x} cy={drawing.start.dot.y} r={sizes.dot / 2} />
          </g>
        )}
        {drawing.edges.map((edge, index) => (
          <Edge key={index} edge={edge} nodes={drawing.nodes} overlay={overlay} onPath={path} />
        ))}
        {drawing.agents.map((agent, index) => (
          <Agent key={index} agent={agent} />
        ))}
        {drawing.nodes.map((node) => (
          <Node key={node.node.name} placed={node} overlay={overlay} pick={pick} />
        ))}
        {drawing.edges.map((edge, index) => (
          <EdgeLabel key={index} edge={edge} nodes={drawing.nodes} overlay={overlay} />
        ))}
      </svg>
    </div>
  );
}

function zoomed({ x, y, zoom }: Camera, by: number, { width, height }: Drawing): Camera {
  const next = Math.max(ZOOM.least, Math.min(ZOOM.most, zoom * by));
  // The middle stays where it is.
  return {
    x: x + width / zoom / 2 - width / next / 2,
    y: y + height / zoom / 2 - height / next / 2,
    zoom: next,
  };
}

function useDrag(camera: Camera, set: (next: Camera) => void, width: number) {
  const from = useRef<Camera>(camera);
  return (event: PointerEvent<SVGSVGElement>): void => {
    if (event.button !== 0 || (event.target as Element).closest(".pickable") !== null) return;
    const target = event.currentTarget;
    const scale = width / camera.zoom / Math.max(1, target.clientWidth);
    const start = { x: event.clientX, y: event.clientY };
    from.current = camera;
    target.setPointerCapture(event.pointerId);
    const follow = (moved: globalThis.PointerEvent) =>
      set({
        ...from.current,
        x: from.current.x - (moved.clientX - start.x) * scale,
        y: from.current.y - (moved.clientY - start.y) * scale,
      });
    target.addEventListener("pointermove", follow);
    target.addEventListener("pointerup", () => target.removeEventListener("pointermove", follow), {
      once: true,
    });
  };
}

const Head = ({ name }: { readonly name: string }) => (
  <marker
    id={name}
    viewBox="0 0 10 10"
    refX="9"
    refY="5"
    markerWidth="9"
    markerHeight="9"
    markerUnits="userSpaceOnUse"
    orient="auto"
  >
    <path className={name} d="M0 1 L10 5 L0 9 Z" />
  </marker>
);

interface EdgeProps {
  readonly edge: PlacedEdge;
  readonly nodes: readonly PlacedNode[];
  readonly overlay: Overlay | undefined;
}

function takenOf({ edge: { edge }, nodes, overlay }: EdgeProps): number {
  const [from, to] = [nodes[edge.from]?.node.name ?? "", nodes[edge.to]?.node.name ?? ""];
  const key = wayKey(from, to, edge.kind === "redirect");
  return overlay !== undefined && Object.hasOwn(overlay.ways, key) ? (overlay.ways[key] ?? 0) : 0;
}

function Edge(props: EdgeProps & { readonly onPath: ReadonlySet<string> }) {
  const { edge: placed, nodes, overlay, onPath } = props;
  const { edge, points } = placed;
  const d = edge.from === edge.to ? loopOf(nodes[edge.from] as PlacedNode) : curveThrough(points);
  const isRedirect = edge.kind === "redirect";
  const key = wayKey(nodes[edge.from]?.node.name ?? "", nodes[edge.to]?.node.name ?? "", isRedirect);
  const isUnused = overlay !== undefined && takenOf(props) === 0;
  const names = [
    "g-edge",
    edge.kind === "redirect" && "redirect",
    isUnused && "unused",
    onPath.has(key) && "on-path",
  ];
  const head = edge.kind === "redirect" ? "url(#redirect-head)" : "url(#head)";
  return <path className={names.filter((one) => one !== false).join(" ")} d={d} markerEnd={head} />;
}

function loopOf({ x, y, width }: PlacedNode): string {
  const side = x + width / 2;
  const out = side + sizes.loop * 1.25;
  return `M${side} ${y - 11} C${out} ${y - 26} ${out} ${y + 26} ${side} ${y + 11}`;
}

/** Between the edge of a label and its text. */
const LABEL_INSET = 4;

function EdgeLabel(props: EdgeProps) {
  const { edge: placed, overlay } = props;
  const { edge, lines, x, y, width, height } = placed;
  const taken = takenOf(props);
  const top = y - (lines.length * sizes.labelLine) / 2;
  // Beside a loop the count makes the label longer to the right only: on the left is the loop.
  const isLoop = edge.from === edge.to;
  const place = isLoop ? { x: x - width / 2 + LABEL_INSET, style: { textAnchor: "start" } as const } : { x };
  return (
    <g className={edge.kind === "redirect" ? "g-label redirect" : "g-label"}>
      <title>{edge.labels.map(visible).join(", ")}</title>
      <rect x={x - width / 2} y={y - height / 2} width={width} height={height} rx={4} />
      {lines.map((line, nth) => (
        <text key={nth} {...place} y={top + nth * sizes.labelLine + 12}>
          {line}
          {nth === lines.length - 1 && overlay !== undefined && taken > 0 && (
            <tspan className="g-count"> ×{taken}</tspan>
          )}
        </text>
      ))}
    </g>
  );
}

function Agent({ agent: { agent, x, y, width, height, arrow } }: { readonly agent: PlacedAgent }) {
  const [from, to] = arrow;
  return (
    <g className="g-agent">
      <path d={`M${from.x} ${from.y} H${to.x}`} markerEnd="url(#head)" />
      <rect x={x - width / 2} y={y - height / 2} width={width} height={height} rx={height / 2} />
      <text x={x} y={y + 4}>
        {agent}
      </text>
    </g>
  );
}

interface NodeProps {
  readonly placed: PlacedNode;
  readonly overlay: Overlay | undefined;
  readonly pick: ((state: string) => void) | undefined;
}

function Node({ placed, overlay, pick }: NodeProps) {
  const { node, x, y, lines, caption } = placed;
  const visits =
    overlay !== undefined && Object.hasOwn(overlay.visits, node.name) ? (overlay.visits[node.name] ?? 0) : 0;
  const isHere = overlay?.current === node.name;
  const flags = (["entry", "terminal", "external", "hybrid", "guarded"] as const).filter(
    (flag) => node[flag],
  );
  const marks = [
    isHere && "here",
    overlay !== undefined && visits === 0 && "unseen-state",
    overlay?.only === node.name && "only",
  ];
  const counter =
    overlay === undefined ? "" : `${visits}${node.maxVisits === null ? "" : `/${node.maxVisits}`}`;
  const height = lines.length * sizes.nameLine + (caption === "" ? 0 : sizes.captionLine);
  const top = y - height / 2;
  const label = `${sentenceOf(node)}${overlay === undefined ? "" : `; visited ${visits} times`}${isHere ? "; the run is here" : ""}`;
  const body = (
    <>
      <title>{label}</title>
      <Outline placed={placed} />
      {lines.map((line, nth) => (
        <text key={nth} className="g-name" x={x} y={top + nth * sizes.nameLine + 13}>
          {line}
        </text>
      ))}
      {caption !== "" && (
        <text className="g-caption" x={x} y={top + lines.length * sizes.nameLine + 11}>
          {caption}
        </text>
      )}
      <Counter
        placed={placed}
        text={counter === "" ? (node.maxVisits === null ? "" : `max ${node.maxVisits}`) : counter}
      />
    </>
  );
  const name = [
    "g-node",
    ...flags,
    ...marks.filter((one) => one !== false),
    pick !== undefined && "pickable",
  ];
  const className = name.filter((one) => one !== false && one !== undefined).join(" ");
  if (pick === undefined)
    return (
      <g className={className} role="img" aria-label={label}>
        {body}
      </g>
    );
  const act = (): void => pick(node.name);
  return (
    <g
      className={className}
      role="button"
      tabIndex={0}
      aria-pressed={overlay?.only === node.name}
      onClick={act}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        act();
      }}
    >
      {body}
    </g>
  );
}

/** How often the state was entered, on its upper right corner. */
function Counter({
  placed: { x, y, width, height },
  text,
}: {
  readonly placed: PlacedNode;
  readonly text: string;
}) {
  if (text === "" || text === "0") return null;
  const wide = text.length * 7 + 12;
  const [left, top] = [x + width / 2 - wide + 8, y - height / 2 - 9];
  return (
    <g className="g-counter">
      <rect x={left} y={top} width={wide} height={18} rx={9} />
      <text x={left + wide / 2} y={top + 13}>
        {text}
      </text>
    </g>
  );
}

function Outline({ placed: { node, x, y, width, height } }: { readonly placed: PlacedNode }) {
  const inner = { x: x - width / 2 + 4, y: y - height / 2 + 4, width: width - 8, height: height - 8 };
  if (node.external || node.hybrid) {
    const [left, right, top, bottom] = [x - width / 2, x + width / 2, y - height / 2, y + height / 2];
    const { notch } = sizes;
    const points = `${left},${y} ${left + notch},${top} ${right - notch},${top} ${right},${y} ${right - notch},${bottom} ${left + notch},${bottom}`;
    return <polygon className="g-box" points={points} />;
  }
  return (
    <>
      <rect className="g-box" x={x - width / 2} y={y - height / 2} width={width} height={height} rx={10} />
      {node.terminal && <rect className="g-inner" {...inner} rx={7} />}
    </>
  );
}
