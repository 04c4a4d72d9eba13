// Where a run's use went, state by state, against the fold of the same turns.

import { expect, test } from "vitest";
import { longRun } from "../../bench/web-journal.ts";
import { must } from "../../src/base/assert.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import { type SummaryUsed, usedOf } from "../../src/core/summary.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { budgetAt } from "../../web/src/journal/budget-view.ts";
import { Journal } from "../../web/src/journal/journal.ts";

const NAMES = ["visits", "model_calls", "tool_calls", "input_tokens", "output_tokens"] as const;

async function rowsOfLongRun(turns: number): Promise<readonly TurnRow[]> {
  const store = memoryStore();
  await longRun(store, { run: "r", turns: turns + 1 });
  return store.rows("r", { from: 1, to: turns, limit: turns });
}

function journalOf(rows: readonly TurnRow[]): Journal {
  const journal = new Journal();
  for (const row of rows) journal.add(row);
  return journal;
}

const sumOf = (uses: readonly { readonly used: SummaryUsed }[], name: (typeof NAMES)[number]): number =>
  uses.reduce((sum, { used }) => sum + used[name], 0);

test("the parts of the states are together what the run used, at any turn", async () => {
  const journal = journalOf(await rowsOfLongRun(700));
  for (const turn of [1, 2, 3, 350, 699, 700]) {
    const { states, course } = budgetAt(journal, turn);
    const used = usedOf(journal.runAt(turn));
    for (const name of NAMES) expect([turn, name, sumOf(states, name)]).toEqual([turn, name, used[name]]);
    expect(course.at(-1)).toEqual(used);
    expect(course.length).toBeLessThanOrEqual(62);
  }
});

test("a fork that begins its budget anew is told from there on", async () => {
  const rows = await rowsOfLongRun(40);
  const last = must(rows.at(-1), "there are turns");
  const { digest, variables } = journalOf(rows).run;
  const forked: TurnRow = {
    ...last,
    turn: 41,
    facts: [{ type: "forked", from: { run: "r", turn: 40 }, digest, resetBudget: true, variables }],
  };
  const journal = journalOf([...rows, forked]);
  const { states, course } = budgetAt(journal, 41);
  expect(usedOf(journal.run).model_calls).toBe(0);
  expect(states).toHaveLength(1);
  expect(sumOf(states, "model_calls")).toBe(0);
  expect(course).toHaveLength(1);
});
