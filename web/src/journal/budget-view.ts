// Where a run spent what it used by a turn: state by state, and as a course over its visits.

import { type SummaryUsed, usedOf } from "../../../src/core/summary.ts";
import type { Journal } from "./journal.ts";
import type { BudgetView, StateUse } from "./journal-shapes.ts";

/** Points of the course: more than a small picture can show. */
const POINTS_MAX = 60;

type Sum = { -readonly [K in keyof SummaryUsed]: SummaryUsed[K] };

/** Of a journal that has every turn up to this one. The sums over states are what the run itself used. */
export function budgetAt(journal: Journal, turn: number): BudgetView {
  const { rows } = journal.visitsFrom(0);
  const end = usedOf(journal.runAt(turn));
  const here = journal.visitAt(turn);
  const sums = new Map<string, Sum>();
  const every = Math.max(1, Math.ceil((here + 1) / POINTS_MAX));
  const course: SummaryUsed[] = [];
  for (let place = 0; place <= here; place++) {
    const row = rows[place];
    if (row === undefined) break;
    const after = place === here ? end : (rows[place + 1]?.used ?? end);
    const isReset = NAMES.some((name) => name !== "wall_ms" && after[name] < row.used[name]);
    // A fork may begin with nothing used, and then so does what is told here.
    if (isReset) {
      sums.clear();
      course.length = 0;
    }
    add(sums, row.to, { before: isReset ? NOTHING : row.used, after });
    if (place % every === 0 && !isReset) course.push(row.used);
  }
  course.push(end);
  return { turn, states: [...sums].map(([state, used]): StateUse => ({ state, used })), course };
}

interface Stretch {
  readonly before: SummaryUsed;
  readonly after: SummaryUsed;
}

function add(sums: Map<string, Sum>, state: string, { before, after }: Stretch): void {
  const sum = sums.get(state) ?? { ...NOTHING };
  for (const name of NAMES) sum[name] += name === "visits" ? 1 : Math.max(0, after[name] - before[name]);
  sums.set(state, sum);
}

const NOTHING: SummaryUsed = {
  visits: 0,
  tool_calls: 0,
  model_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  wall_ms: 0,
};
const NAMES = Object.keys(NOTHING) as readonly (keyof SummaryUsed)[];
