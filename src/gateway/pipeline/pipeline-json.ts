// The compiled form of pipelines as a document that stays the same while they do: sorted by id.

import type { JsonObject } from "../../base/json.ts";
import type { Pipeline } from "./pipeline.ts";

export function pipelineJson(pipeline: Pipeline): JsonObject {
  const nodes = [...pipeline.nodes.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    name: pipeline.name,
    on: pipeline.on,
    execution_mode: pipeline.isSynchronous ? "synchronous" : "async",
    nodes: nodes.map(({ id, plugin }) => ({ id, uses: plugin })),
    edges: nodes.flatMap(({ id, next }) => next.toSorted().map((to) => ({ from: id, to }))),
    entries: pipeline.entries.toSorted(),
    terminals: pipeline.terminals.toSorted(),
  };
}
