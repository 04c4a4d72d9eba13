// A run laid over the picture of its pack: how often each state was entered and each way was taken.

import type { TraceRow } from "../../core/trace.ts";
import type { GraphEdge, GraphModel } from "./model.ts";

type Way = Pick<TraceRow, "from" | "event" | "to" | "cause" | "redirected_from">;

export interface RunOverlay {
  /** Where the run is, or ended. */
  readonly state: string | null;
  readonly ways: Iterable<Way>;
}

/** States and ways that the pack does not have are left out: the run may be one of another pack. */
export function withRun(graph: GraphModel, { state, ways }: RunOverlay): GraphModel {
  const visits = new Map<string, number>();
  const taken = new Map<string, number>();
  for (const way of ways) {
    count(visits, way.to);
    for (const key of keysOf(way)) count(taken, key);
  }
  const nameOf = (index: number): string => graph.nodes[index]?.name ?? "";
  const timesOf = ({ from, to, kind, labels }: GraphEdge): readonly number[] =>
    labels.map((label) => {
      const event = kind === "redirect" ? null : label;
      return taken.get(keyOf(nameOf(from), event, nameOf(to))) ?? 0;
    });
  return {
    ...graph,
    nodes: graph.nodes.map((node) => {
      return { ...node, visits: visits.get(node.name) ?? 0, current: node.name === state };
    }),
    edges: graph.edges.map((edge) => ({ ...edge, taken: timesOf(edge) })),
  };
}

/** The event leads to the first state whose guard sent the run on, and each of them to the next. */
function keysOf({ from, event, to, cause, redirected_from: guards }: Way): readonly string[] {
  const stations = [...guards, to];
  const keys = guards.map((guard, nth) => keyOf(guard, null, stations[nth + 1] as string));
  const isEntry = from === null || event === null || cause === "entry";
  return isEntry ? keys : [keyOf(from, event, stations[0] as string), ...keys];
}

const keyOf = (from: string, event: string | null, to: string): string => JSON.stringify([from, event, to]);

const count = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
