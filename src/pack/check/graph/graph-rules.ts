// PP3xx: the state graph.

import type { Rule } from "../rule.ts";
import { unreachableState } from "./pp301-unreachable-state.ts";
import { noWayToEnd } from "./pp302-no-way-to-end.ts";
import { implicitEnd } from "./pp303-implicit-end.ts";
import { terminalWithEvents } from "./pp304-terminal-with-events.ts";
import { noWayOut } from "./pp305-no-way-out.ts";
import { onlyRepeatsItself } from "./pp306-only-repeats.ts";
import { oneTarget } from "./pp307-one-target.ts";
import { handOff } from "./pp308-hand-off.ts";
import { endlessWait } from "./pp309-endless-wait.ts";

export const graphRules: readonly Rule[] = [
  unreachableState,
  noWayToEnd,
  implicitEnd,
  terminalWithEvents,
  noWayOut,
  onlyRepeatsItself,
  oneTarget,
  handOff,
  endlessWait,
];
