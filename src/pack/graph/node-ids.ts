// Identifiers for formats where a node needs one. A simple name stays readable, so that a stored diagram
// changes only where the pack does; any other name is replaced by its number.

import type { GraphModel } from "./model.ts";

/** One per node, made of letters, digits and `_`, and different from every word such a format reserves. */
export function nodeIds({ nodes }: Pick<GraphModel, "nodes">): readonly string[] {
  return nodes.map(({ name }, index) => (/^[A-Za-z][A-Za-z0-9_]*$/.test(name) ? `s_${name}` : `s${index}`));
}
