import { expect, test } from "vitest";
import { must } from "../../base/assert.ts";
import { treeUse } from "../../core/run.ts";
import { recordFits, recordOf } from "../record.ts";
import { sampleCreation, sampleJournal } from "../sample-journal.ts";
import { recordOfRow, runColumns, runSum, turnColumns } from "./run-record.ts";

test("a turn that an earlier release stored has no use, and its record still fits its journal", () => {
  const { after } = must(sampleJournal(3, 5).at(-1), "there are turns");
  const columns = runColumns(recordOf("r", sampleCreation, after));
  const { standing, summary } = turnColumns(after);
  const row = { ...columns, sum: runSum(columns), turn: after.turn, standing, summary };
  const record = recordOfRow(row);
  const { visits: _visits, ...used } = treeUse(after);
  expect(record.used).toEqual(used);
  const old = recordOfRow({
    ...row,
    summary: JSON.stringify((JSON.parse(summary) as unknown[]).slice(0, 5)),
  });
  expect(old).toEqual({ ...record, used: null });
  expect([record, old].map((one) => recordFits(one, sampleCreation, after))).toEqual([true, true]);
  const wrong = { ...record, used: { ...used, toolCalls: used.toolCalls + 1 } };
  expect(recordFits(wrong, sampleCreation, after)).toBe(false);
  expect(recordFits({ ...old, visits: old.visits + 1 }, sampleCreation, after)).toBe(false);
});
