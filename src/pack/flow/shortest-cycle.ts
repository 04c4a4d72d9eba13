// The shortest cycle inside one strongly connected component, breadth first from each of its nodes.
//
// The work is bounded: past the allowance the best cycle found so far stands. The first node searched always
// finds one when its component has one through it, so a component never ends up without a witness for lack of
// allowance.

import type { Components, Rows } from "../../base/components.ts";

/** One edge of a cycle: an index into the rows' targets, and the node it leaves. */
export interface Step {
  readonly node: number;
  readonly edge: number;
}

interface CycleQuestion {
  /** Nodes of one component, those to prefer first. */
  readonly nodes: Iterable<number>;
  /** Edges of which a cycle must hold at least one. */
  readonly isWanted: (step: Step) => boolean;
}

/** Edges followed for one graph, about ten milliseconds. Cycles people write are found long before. */
const EDGES_MAX = 500_000;

/** Searches the components of one graph. Its scratch memory is shared by all questions. */
export class CycleSearch {
  readonly #rows: Rows;
  readonly #components: Components;
  readonly #seenBy: Int32Array;
  readonly #cameFrom: Int32Array;
  readonly #cameBy: Int32Array;
  #round = 0;
  #edgesLeft = EDGES_MAX;

  constructor(rows: Rows, components: Components) {
    this.#rows = rows;
    this.#components = components;
    this.#seenBy = new Int32Array(rows.count);
    this.#cameFrom = new Int32Array(rows.count);
    this.#cameBy = new Int32Array(rows.count);
  }

  shortest({ nodes, isWanted }: CycleQuestion): readonly Step[] | undefined {
    let best: readonly Step[] | undefined;
    for (const node of nodes) {
      if (best !== undefined && (best.length === 1 || this.#edgesLeft <= 0)) break;
      best = this.#from(node, isWanted, best?.length ?? Infinity) ?? best;
    }
    return best;
  }

  /** The shortest cycle that begins at `start` with a wanted edge and has fewer than `below` edges. */
  #from(start: number, isWanted: CycleQuestion["isWanted"], below: number): readonly Step[] | undefined {
    this.#round++;
    let level = [start];
    for (let length = 1; length < below && level.length > 0; length++) {
      const next: number[] = [];
      for (const node of level) {
        const closing = this.#expand(node, { start, next, isWanted: length === 1 ? isWanted : undefined });
        if (closing !== undefined) return this.#unwind(start, closing);
      }
      level = next;
    }
    return undefined;
  }

  /** Follows the edges of `node`; the one that leads back to the start, if any. */
  #expand(
    node: number,
    {
      start,
      next,
      isWanted,
    }: { start: number; next: number[]; isWanted: CycleQuestion["isWanted"] | undefined },
  ): Step | undefined {
    const { offsets, targets } = this.#rows;
    const { of } = this.#components;
    const end = offsets[node + 1] as number;
    for (let edge = offsets[node] as number; edge < end; edge++) {
      this.#edgesLeft--;
      const target = targets[edge] as number;
      if (of[target] !== of[start] || (isWanted !== undefined && !isWanted({ node, edge }))) continue;
      if (target === start) return { node, edge };
      if (this.#seenBy[target] === this.#round) continue;
      this.#seenBy[target] = this.#round;
      this.#cameFrom[target] = node;
      this.#cameBy[target] = edge;
      next.push(target);
    }
    return undefined;
  }

  #unwind(start: number, closing: Step): readonly Step[] {
    const steps = [closing];
    for (let node = closing.node; node !== start; ) {
      const step = { node: this.#cameFrom[node] as number, edge: this.#cameBy[node] as number };
      steps.push(step);
      node = step.node;
    }
    return steps.reverse();
  }
}
