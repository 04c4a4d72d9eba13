// Every configuration a run can be in, found breadth first with the engine's own rule of entering. Unguarded
// states need no counter, so the set is finite, and it has a cycle exactly when an endless run exists.

import { type Flow, type FlowEvent, type FlowState, isGuarded, NONE, resolveEntry } from "../../core/flow.ts";
import { ConfigurationTable } from "./configuration-table.ts";
import { CounterView } from "./counter-view.ts";
import { IntList } from "./int-list.ts";

/** About half a second of work. */
const CONFIGURATIONS_MAX = 1_000_000;

export interface Exploration {
  readonly flow: Flow;
  readonly start: number;
  /** False when the limit was reached; then nothing below is the whole truth. */
  readonly complete: boolean;
  readonly count: number;
  /** State of each configuration. */
  readonly stateOf: Int32Array;
  /** Visits on the shortest run to each configuration, itself included. */
  readonly depthOf: Int32Array;
  /** The configuration each was first reached from, and by which event; `NONE` for the first. */
  readonly parentOf: Int32Array;
  readonly eventOf: Int32Array;
  /**
   * Successors in compressed rows; `events` holds the event's index and `redirected` whether a guard diverted
   * it.
   */
  readonly offsets: Int32Array;
  readonly targets: Int32Array;
  readonly events: Int32Array;
  readonly redirected: Uint8Array;
  /** Fewest visits before an attempt finds the state at its limit; `Infinity` when none ever does. */
  readonly firstFullAttempt: Float64Array;
  /** How often the state of a configuration was entered on the way to it; 0 when it is not guarded. */
  readonly entriesIn: (configuration: number) => number;
  /** Exhausted guards in a configuration, by state index. */
  readonly exhaustedIn: (configuration: number) => readonly number[];
}

interface ExploreOptions {
  readonly limit?: number;
  /** States that may not be entered: an attempt ends the run. Used to ask what happens without them. */
  readonly closed?: ReadonlySet<number>;
}

export function explore(flow: Flow, start: number, options: ExploreOptions = {}): Exploration {
  return new Explorer(flow, start, options).run();
}

/** Values a counter can take: 0 up to its limit. No exploration counts as far as 30 bits. */
const sizeOf = ({ visitsMax }: FlowState): number => Math.min(visitsMax + 1, 2 ** 30);

class Explorer {
  readonly #flow: Flow;
  readonly #start: number;
  readonly #closed: Uint8Array;
  readonly #table: ConfigurationTable;
  readonly #counters: CounterView;
  readonly #firstFull: Float64Array;
  /** The configuration in which each guard was last met full. */
  readonly #fullIn: Int32Array;
  readonly #depths = new IntList();
  readonly #parents = new IntList();
  readonly #parentEvents = new IntList();
  readonly #offsets = new IntList();
  readonly #edges = new Edges();

  constructor(flow: Flow, start: number, options: ExploreOptions) {
    this.#flow = flow;
    this.#start = start;
    this.#closed = new Uint8Array(flow.states.length);
    for (const state of options.closed ?? []) this.#closed[state] = 1;
    this.#table = new ConfigurationTable(flow, { limit: options.limit ?? CONFIGURATIONS_MAX, sizeOf });
    this.#counters = new CounterView(flow, this.#table);
    this.#firstFull = new Float64Array(flow.states.length).fill(Infinity);
    this.#fullIn = new Int32Array(flow.states.length).fill(NONE);
  }

  run(): Exploration {
    const table = this.#table;
    if (this.#start !== NONE && this.#closed[this.#start] !== 1) this.#enter(NONE, this.#start, NONE);
    for (let at = 0; at < table.count; at++) {
      this.#offsets.push(this.#edges.count);
      this.#expand(at);
    }
    this.#offsets.push(this.#edges.count);
    return {
      flow: this.#flow,
      start: this.#start,
      complete: table.complete,
      count: table.count,
      stateOf: table.states.done(),
      depthOf: this.#depths.done(),
      parentOf: this.#parents.done(),
      eventOf: this.#parentEvents.done(),
      offsets: this.#offsets.done(),
      ...this.#edges.done(),
      firstFullAttempt: this.#firstFull,
      entriesIn: (configuration) => table.fieldIn(configuration, table.states.cells[configuration] as number),
      exhaustedIn: (configuration) => this.#exhausted(configuration),
    };
  }

  #expand(at: number): void {
    const index = this.#table.states.cells[at] as number;
    const { events } = this.#flow.states[index] as FlowState;
    this.#edges.reserve(events.length);
    for (let event = 0; event < events.length; event++) {
      const aimed = (events[event] as FlowEvent).target;
      this.#counters.read(at, aimed);
      const entered = resolveEntry(this.#flow, aimed, this.#counters.visits);
      if (entered !== aimed) this.#noteFull(at, aimed, entered);
      if (entered === NONE || this.#closed[entered] === 1) continue;
      const target = this.#enter(at, entered, event);
      if (target !== NONE) this.#edges.add(target, event, entered !== aimed);
    }
  }

  #enter(from: number, entered: number, event: number): number {
    const known = this.#table.count;
    const target = this.#table.after(from, entered, true);
    if (target === known) {
      this.#depths.push(from === NONE ? 1 : (this.#depths.cells[from] as number) + 1);
      this.#parents.push(from);
      this.#parentEvents.push(event);
    }
    return target;
  }

  /** Every state from the one aimed at to the one entered, or to the end of the chain, is full. */
  #noteFull(at: number, aimed: number, entered: number): void {
    const depth = this.#depths.cells[at] as number;
    for (let full = aimed; full !== entered && full !== NONE && this.#fullIn[full] !== at; ) {
      this.#fullIn[full] = at;
      this.#firstFull[full] = Math.min(this.#firstFull[full] as number, depth);
      full = (this.#flow.states[full] as FlowState).fallback;
    }
  }

  #exhausted(configuration: number): readonly number[] {
    const guards: number[] = [];
    for (const [index, state] of this.#flow.states.entries()) {
      if (isGuarded(state) && this.#table.fieldIn(configuration, index) >= state.visitsMax)
        guards.push(index);
    }
    return guards;
  }
}

/** Edges in the order they are found. Room is made once for all events of a configuration. */
class Edges {
  count = 0;
  #targets = new Int32Array(256);
  #events = new Int32Array(256);
  #redirected = new Uint8Array(256);

  reserve(more: number): void {
    if (this.count + more <= this.#targets.length) return;
    const size = 4 * (this.count + more);
    const [targets, events, redirected] = [new Int32Array(size), new Int32Array(size), new Uint8Array(size)];
    targets.set(this.#targets);
    events.set(this.#events);
    redirected.set(this.#redirected);
    this.#targets = targets;
    this.#events = events;
    this.#redirected = redirected;
  }

  add(target: number, event: number, redirected: boolean): void {
    this.#targets[this.count] = target;
    this.#events[this.count] = event;
    this.#redirected[this.count++] = redirected ? 1 : 0;
  }

  done(): Pick<Exploration, "targets" | "events" | "redirected"> {
    return {
      targets: this.#targets.subarray(0, this.count),
      events: this.#events.subarray(0, this.count),
      redirected: this.#redirected.subarray(0, this.count),
    };
  }
}
