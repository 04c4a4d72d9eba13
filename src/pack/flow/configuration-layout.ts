// How a configuration is put into bits, and how it is found again: see configuration-table.ts.

import { type Flow, type FlowState, isGuarded } from "../../core/flow.ts";
import { staticComponents } from "./static-graph.ts";

const WORD_BITS = 32;

/**
 * Up to so many possible configurations each has a place of its own: 16 MB, used only as far as it is
 * touched.
 */
const PLACES_MAX = 1 << 22;

/** All arrays are by state. A state without a field has the unit 0. */
export interface Layout {
  /** Words of a row. */
  readonly width: number;
  readonly componentOf: Int32Array;
  /** The field of a guard: its word, counted from 1, and its bits there. */
  readonly wordOf: Int32Array;
  readonly shiftOf: Int32Array;
  readonly maskOf: Int32Array;
  readonly unitOf: Int32Array;
  /** What one entry adds to the hash of a row. */
  readonly keyOf: Int32Array;
  readonly direct: Direct | null;
}

/**
 * Hashes as row numbers in mixed radix: the place of a configuration is `baseOf[state] + hash *
 * strideOf[state]` and no two share one. Neighbours stay together in memory, which makes a large exploration
 * much faster.
 */
interface Direct {
  readonly places: number;
  readonly baseOf: Int32Array;
  readonly strideOf: Int32Array;
}

/** `sizeOf` tells how many values the field of a guard can take, at most 2^30. */
export function layoutOf(flow: Flow, sizeOf: (guard: FlowState) => number): Layout {
  const { of: componentOf, count } = staticComponents(flow);
  const byState = () => new Int32Array(flow.states.length);
  const fields = {
    wordOf: byState(),
    shiftOf: byState(),
    maskOf: byState(),
    unitOf: byState(),
    keyOf: byState(),
  };
  const bitsUsed = new Int32Array(count);
  let width = 0;
  for (const [index, state] of flow.states.entries()) {
    if (!isGuarded(state)) continue;
    const component = componentOf[index] as number;
    const bits = 32 - Math.clz32(sizeOf(state) - 1);
    let at = bitsUsed[component] as number;
    // A field never spans two words.
    if ((at % WORD_BITS) + bits > WORD_BITS) at += WORD_BITS - (at % WORD_BITS);
    bitsUsed[component] = at + bits;
    width = Math.max(width, Math.ceil((at + bits) / WORD_BITS));
    fields.wordOf[index] = 1 + Math.floor(at / WORD_BITS);
    fields.shiftOf[index] = at % WORD_BITS;
    fields.maskOf[index] = 2 ** bits - 1;
    fields.unitOf[index] = 1 << (at % WORD_BITS);
    fields.keyOf[index] = mixed(spread(index));
  }
  return { width, componentOf, ...fields, ...directOf(flow, { componentOf, count, sizeOf }) };
}

/** Keys in mixed radix and the places, when they are few enough. */
function directOf(
  flow: Flow,
  {
    componentOf,
    count,
    sizeOf,
  }: { componentOf: Int32Array; count: number; sizeOf: (guard: FlowState) => number },
): Pick<Layout, "direct"> | Pick<Layout, "direct" | "keyOf"> {
  const rows = new Float64Array(count).fill(1);
  const members = new Int32Array(count);
  const keyOf = new Int32Array(flow.states.length);
  const localOf = new Int32Array(flow.states.length);
  for (const [index, state] of flow.states.entries()) {
    const component = componentOf[index] as number;
    localOf[index] = members[component] as number;
    members[component] = (members[component] as number) + 1;
    if (!isGuarded(state)) continue;
    keyOf[index] = rows[component] as number;
    rows[component] = (rows[component] as number) * sizeOf(state);
    if (rows[component] > PLACES_MAX) return { direct: null };
  }
  const bases = new Float64Array(count);
  let places = 0;
  for (let component = 0; component < count; component++) {
    bases[component] = places;
    places += (rows[component] as number) * (members[component] as number);
  }
  if (places > PLACES_MAX) return { direct: null };
  const baseOf = localOf.map((local, index) => local + (bases[componentOf[index] as number] as number));
  const strideOf = componentOf.map((component) => members[component] as number);
  return { direct: { places, baseOf, strideOf }, keyOf };
}

/** Where to look first for a configuration without a place of its own. */
export const mixedHash = (hash: number, state: number): number => mixed(hash ^ spread(state));

/** Neighbouring indexes far apart: keys that are multiples of each other would make rows collide. */
const spread = (index: number): number => Math.imul(index + 1, 0x9e3779b1);

function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return bits ^ (bits >>> 16);
}
