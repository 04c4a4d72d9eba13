// Test C, for packs too large to explore: states with the *set* of exhausted guards, where entering a guarded
// state may or may not exhaust it. That only adds runs: without a cycle here there is none in truth.

import { components, type Rows } from "../../base/components.ts";
import { type Flow, type FlowState, isGuarded, NONE, resolveEntry } from "../../core/flow.ts";
import { ConfigurationTable } from "./configuration-table.ts";
import { CounterView } from "./counter-view.ts";
import { IntList } from "./int-list.ts";

const NODES_MAX = 200_000;

export type SetVerdict =
  | { readonly kind: "bounded" }
  /** A cycle that may be real; its states in file order. */
  | { readonly kind: "suspect"; readonly cycle: readonly number[] }
  | { readonly kind: "unknown" };

export function setTest(flow: Flow, start: number): SetVerdict {
  const table = new ConfigurationTable(flow, { limit: NODES_MAX, sizeOf: () => 2 });
  const cycle = firstCycle(unguardedSteps(flow, start, table), table);
  if (cycle !== undefined) return { kind: "suspect", cycle };
  return { kind: table.complete ? "bounded" : "unknown" };
}

/**
 * Steps between unguarded states. Only a cycle of them is endless: a guarded state is not entered for ever.
 */
function unguardedSteps(flow: Flow, start: number, table: ConfigurationTable): Rows {
  const counters = new CounterView(flow, table, (full, { visitsMax }) => full * visitsMax);
  const offsets = new IntList();
  const targets = new IntList();
  if (start !== NONE) enter(flow, table, { from: NONE, entered: start });
  for (let at = 0; at < table.count; at++) {
    offsets.push(targets.length);
    const index = table.states.cells[at] as number;
    const state = flow.states[index] as FlowState;
    for (const event of state.events) {
      counters.read(at, event.target);
      const entered = resolveEntry(flow, event.target, counters.visits);
      if (entered === NONE) continue;
      const target = enter(flow, table, { from: at, entered });
      const stays = !isGuarded(state) && !isGuarded(flow.states[entered] as FlowState);
      if (stays && target !== NONE) targets.push(target);
    }
  }
  offsets.push(targets.length);
  return { offsets: offsets.done(), targets: targets.done(), count: table.count };
}

/** Adds what entering may lead to; for an unguarded state that is one configuration, which is returned. */
function enter(flow: Flow, table: ConfigurationTable, step: { from: number; entered: number }): number {
  const { visitsMax } = flow.states[step.entered] as FlowState;
  if (visitsMax !== Infinity) table.after(step.from, step.entered, true);
  return visitsMax === 1 ? NONE : table.after(step.from, step.entered, false);
}

function firstCycle(rows: Rows, table: ConfigurationTable): readonly number[] | undefined {
  const { of } = components(rows);
  for (let node = 0; node < rows.count; node++) {
    for (let e = rows.offsets[node] as number; e < (rows.offsets[node + 1] as number); e++) {
      if (of[rows.targets[e] as number] !== of[node]) continue;
      const states = new Set<number>();
      for (let other = 0; other < rows.count; other++) {
        if (of[other] === of[node]) states.add(table.states.cells[other] as number);
      }
      return [...states].sort((a, b) => a - b);
    }
  }
  return undefined;
}
