// The counters of one configuration as the rule of entering wants them: by state. Only those are read that
// the rule will ask for, so the work does not grow with the number of guards.

import { type Flow, type FlowState, isGuarded, NONE } from "../../core/flow.ts";
import type { ConfigurationTable } from "./configuration-table.ts";

export class CounterView {
  readonly #flow: Flow;
  readonly #table: ConfigurationTable;
  readonly #entriesOf: (field: number, guard: FlowState) => number;
  readonly #readIn: Int32Array;
  /** Valid along the chains read for the configuration at hand; 0 for unguarded states. */
  readonly visits: Float64Array;

  /** `entriesOf` turns the field of a guard into entries; without it the field is their number. */
  constructor(
    flow: Flow,
    table: ConfigurationTable,
    entriesOf: (field: number, guard: FlowState) => number = (field) => field,
  ) {
    this.#flow = flow;
    this.#table = table;
    this.#entriesOf = entriesOf;
    this.#readIn = new Int32Array(flow.states.length).fill(NONE);
    this.visits = new Float64Array(flow.states.length);
  }

  /**
   * Reads what decides where aiming at `target` leads: its own counter, and those of fallbacks behind full
   * guards.
   */
  read(configuration: number, target: number): void {
    for (let at = target; at !== NONE && this.#readIn[at] !== configuration; ) {
      const state = this.#flow.states[at] as FlowState;
      if (!isGuarded(state)) return;
      this.#readIn[at] = configuration;
      const entries = this.#entriesOf(this.#table.fieldIn(configuration, at), state);
      this.visits[at] = entries;
      if (entries < state.visitsMax) return;
      at = state.fallback;
    }
  }
}
