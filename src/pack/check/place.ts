// Places named by rules to spans of the source.

import { entryAt, type Node, nodeAt, type Span } from "../read/tree.ts";
import type { Place } from "./rule.ts";

/** The span of a place; of the nearest thing around it where it is not written in the file. */
export function spanOf(root: Node, place: Place): Span {
  if (place.within !== undefined) return place.within;
  for (let length = place.path.length; length > 0; length--) {
    const path = place.path.slice(0, length);
    const entry = entryAt(root, path);
    const exact = length === place.path.length;
    if (entry !== undefined) return exact && place.on === "value" ? valueSpan(entry.value) : entry.keySpan;
    const node = nodeAt(root, path);
    if (node !== undefined) return valueSpan(node);
  }
  return { start: root.span.start, end: root.span.start };
}

/** A map or list is pointed at by its first character: its whole text would flood the terminal. */
function valueSpan(node: Node): Span {
  if (node.kind === "scalar") return node.span;
  return { start: node.span.start, end: Math.min(node.span.end, node.span.start + 1) };
}
