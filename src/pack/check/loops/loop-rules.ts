// PP4xx: loops and budgets.

import type { Rule } from "../rule.ts";
import { endlessCycle } from "./pp401-endless-cycle.ts";
import { budgetOnly } from "./pp402-budget-only.ts";
import { redirectCycle } from "./pp403-redirect-cycle.ts";
import { fallbackCircle } from "./pp404-fallback-circle.ts";
import { noFallback } from "./pp405-no-fallback.ts";
import { budgetBelowGuards } from "./pp406-budget-below-guards.ts";
import { guardBeyondBudget } from "./pp407-guard-beyond-budget.ts";
import { noBudget } from "./pp408-no-budget.ts";
import { wallTimeIncludesWaits } from "./pp409-wall-time-includes-waits.ts";
import { bound } from "./pp410-bound.ts";
import { idleToolBudget } from "./pp411-idle-tool-budget.ts";
import { greedyState } from "./pp412-greedy-state.ts";
import { guardedFallback } from "./pp413-guarded-fallback.ts";
import { idleGuard } from "./pp414-idle-guard.ts";
import { undecided } from "./pp415-undecided.ts";
import { neverYields } from "./pp416-never-yields.ts";
import { controlOfTerminal } from "./pp417-control-of-terminal.ts";

export const loopRules: readonly Rule[] = [
  endlessCycle,
  budgetOnly,
  redirectCycle,
  fallbackCircle,
  noFallback,
  budgetBelowGuards,
  guardBeyondBudget,
  noBudget,
  wallTimeIncludesWaits,
  bound,
  idleToolBudget,
  greedyState,
  guardedFallback,
  idleGuard,
  undecided,
  neverYields,
  controlOfTerminal,
];
