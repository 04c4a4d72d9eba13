// Configurations numbered as they are found. One is the current state and a row of bits with a field for each
// guard: how often it was entered, or only whether it is exhausted.
//
// Fields are kept only for guards in the strongly connected component the run is in: a component once left is
// never entered again, so its counters can no longer matter, and those of a component not yet entered are
// zero.

import { type Flow, type FlowState, NONE } from "../../core/flow.ts";
import { type Layout, layoutOf, mixedHash } from "./configuration-layout.ts";
import { IntList } from "./int-list.ts";

interface TableOptions {
  readonly limit: number;
  readonly sizeOf: (guard: FlowState) => number;
}

/**
 * Rows up to this width, in words, leave the limit as it is; wider ones lower it, so that memory is bounded.
 */
const WIDTH_FREE = 4;

export class ConfigurationTable {
  readonly #layout: Layout;
  readonly #limit: number;
  /** False when a configuration was refused because of the limit. */
  complete = true;
  count = 0;
  readonly states = new IntList();
  readonly #hashes = new IntList();
  /** One record per configuration: its state, then its row. */
  readonly #stride: number;
  #records: Int32Array;
  /** With places of their own: the number of each configuration plus one, 0 where there is none. */
  readonly #places: Int32Array;
  /** Without: pairs of a hash and such a number. */
  #slots = new Int32Array(512);

  constructor(flow: Flow, { limit, sizeOf }: TableOptions) {
    this.#layout = layoutOf(flow, sizeOf);
    const { width, direct } = this.#layout;
    this.#limit = Math.floor(limit * Math.min(1, WIDTH_FREE / Math.max(1, width)));
    this.#stride = width + 1;
    this.#records = new Int32Array(256 * this.#stride);
    this.#places = new Int32Array(direct?.places ?? 0);
  }

  /** Field of a guard in a configuration; 0 for guards of other components. */
  fieldIn(configuration: number, guard: number): number {
    const { componentOf, wordOf, shiftOf, maskOf } = this.#layout;
    const base = configuration * this.#stride;
    if (componentOf[this.#records[base] as number] !== componentOf[guard]) return 0;
    const word = this.#records[base + (wordOf[guard] as number)] as number;
    return (word >>> (shiftOf[guard] as number)) & (maskOf[guard] as number);
  }

  /**
   * The configuration after `entered` is entered in configuration `from` (`NONE` at the start of a run),
   * added when it is new; `NONE` past the limit. With `counts` the field of the entered state is raised by
   * one.
   */
  after(from: number, entered: number, counts: boolean): number {
    const { componentOf, unitOf, keyOf, direct } = this.#layout;
    const stays = from !== NONE && componentOf[entered] === componentOf[this.states.cells[from] as number];
    const row = stays ? from : NONE;
    const unit = counts ? (unitOf[entered] as number) : 0;
    const rowHash = stays ? (this.#hashes.cells[from] as number) : 0;
    const hash = (rowHash + (unit === 0 ? 0 : (keyOf[entered] as number))) | 0;
    const at =
      direct === null
        ? this.#search(hash, row, entered, unit)
        : (direct.baseOf[entered] as number) + hash * (direct.strideOf[entered] as number);
    const found = (direct === null ? this.#slots[at + 1] : this.#places[at]) as number;
    if (found !== 0) return found - 1;
    if (this.count >= this.#limit) {
      this.complete = false;
      return NONE;
    }
    if (direct === null) {
      this.#slots[at] = hash;
      this.#slots[at + 1] = this.count + 1;
    } else {
      this.#places[at] = this.count + 1;
    }
    return this.#add(hash, row, entered, unit);
  }

  // The pieces below take plain numbers: they run once for each edge, millions of times.

  /** The slot of a configuration, or the free one it belongs in. At most half of the slots are taken. */
  #search(hash: number, row: number, entered: number, unit: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = (mixedHash(hash, entered) << 1) & mask;
    for (let found = slots[slot + 1] as number; found !== 0; found = slots[slot + 1] as number) {
      if (slots[slot] === hash && this.#isAt(found - 1, row, entered, unit)) return slot;
      slot = (slot + 2) & mask;
    }
    return slot;
  }

  /** Whether `found` is at `entered` with the row of `row` (all zero for `NONE`) and the unit added. */
  #isAt(found: number, row: number, entered: number, unit: number): boolean {
    const records = this.#records;
    const stride = this.#stride;
    const base = found * stride;
    if (records[base] !== entered) return false;
    const raised = this.#layout.wordOf[entered] as number;
    for (let i = 1; i < stride; i++) {
      const before = row === NONE ? 0 : (records[row * stride + i] as number);
      if (records[base + i] !== (i === raised ? (before + unit) | 0 : before)) return false;
    }
    return true;
  }

  #add(hash: number, row: number, entered: number, unit: number): number {
    const stride = this.#stride;
    const added = this.count++;
    const base = added * stride;
    this.states.push(entered);
    this.#hashes.push(hash);
    if (base + stride > this.#records.length) {
      const grown = new Int32Array(this.#records.length * 4);
      grown.set(this.#records);
      this.#records = grown;
    }
    const records = this.#records;
    records[base] = entered;
    if (row !== NONE) {
      for (let i = 1; i < stride; i++) records[base + i] = records[row * stride + i] as number;
    }
    if (unit !== 0) {
      const at = base + (this.#layout.wordOf[entered] as number);
      records[at] = (records[at] as number) + unit;
    }
    if (this.#layout.direct === null && this.count * 4 > this.#slots.length) this.#rehash();
    return added;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let i = 0; i < this.count; i++) {
      const hash = this.#hashes.cells[i] as number;
      let slot = (mixedHash(hash, this.states.cells[i] as number) << 1) & mask;
      while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
      slots[slot] = hash;
      slots[slot + 1] = i + 1;
    }
    this.#slots = slots;
  }
}
