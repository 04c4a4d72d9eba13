// The graph as data, for scripts. Names are exactly those of the pack.

import type { GraphModel } from "./model.ts";

export function toGraphJson(graph: GraphModel): string {
  const nameOf = (index: number) => graph.nodes[index]?.name;
  const value = {
    pack: { id: graph.id, name: graph.name, version: graph.version },
    kind: graph.kind,
    entry: graph.nodes.find((node) => node.entry)?.name ?? null,
    nodes: graph.nodes.map((node) => {
      return {
        name: node.name,
        description: node.description,
        entry: node.entry,
        agents: node.agents,
        terminal: node.terminal,
        external: node.external,
        hybrid: node.hybrid,
        composition: node.composition,
        ...(node.steps !== undefined && { steps: node.steps }),
        guarded: node.guarded,
        max_visits: node.maxVisits,
        on_max_visits: node.onMaxVisits,
        prompt: node.prompt,
        ...(node.visits !== undefined && { visits: node.visits, current: node.current === true }),
      };
    }),
    edges: graph.edges.map(({ from, to, kind, labels, taken }) => {
      return {
        from: nameOf(from),
        to: nameOf(to),
        kind,
        events: kind === "event" ? labels : [],
        ...(taken !== undefined && { taken: taken.reduce((sum, times) => sum + times, 0) }),
      };
    }),
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}
