// Strongly connected components of a graph in compressed rows, without recursion (graphs reach a million
// nodes).

/** `targets[offsets[n] … offsets[n + 1]]` are the successors of node `n`. */
export interface Rows {
  readonly offsets: ArrayLike<number>;
  readonly targets: ArrayLike<number>;
  readonly count: number;
}

export interface Components {
  /** Component of each node. Numbers are given successors first: an edge never leads to a higher number. */
  readonly of: Int32Array;
  readonly count: number;
}

/** Tarjan's algorithm with a stack of our own. */
export function components({ offsets, targets, count }: Rows): Components {
  const of = new Int32Array(count).fill(-1);
  const order = new Int32Array(count).fill(-1);
  const low = new Int32Array(count);
  const next = new Int32Array(count);
  const stack = new Int32Array(count);
  const path = new Int32Array(count);
  let stackSize = 0;
  let time = 0;
  let found = 0;
  for (let root = 0; root < count; root++) {
    if (order[root] !== -1) continue;
    let pathSize = 0;
    path[pathSize++] = root;
    while (pathSize > 0) {
      const node = path[pathSize - 1] as number;
      if (order[node] === -1) {
        order[node] = low[node] = time++;
        next[node] = offsets[node] as number;
        stack[stackSize++] = node;
      }
      const edge = next[node] as number;
      if (edge < (offsets[node + 1] as number)) {
        next[node] = edge + 1;
        const target = targets[edge] as number;
        if (order[target] === -1) path[pathSize++] = target;
        else if (of[target] === -1) low[node] = Math.min(low[node] as number, order[target] as number);
        continue;
      }
      pathSize--;
      if (pathSize > 0) {
        const parent = path[pathSize - 1] as number;
        low[parent] = Math.min(low[parent] as number, low[node] as number);
      }
      if (low[node] === order[node]) {
        for (;;) {
          const member = stack[--stackSize] as number;
          of[member] = found;
          if (member === node) break;
        }
        found++;
      }
    }
  }
  return { of, count: found };
}
