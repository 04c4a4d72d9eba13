import { expect, test } from "vitest";
import { applyTurn } from "../core/apply.ts";
import { FACTS_VERSION, type Fact } from "../core/facts.ts";
import { emptyRun, type Run } from "../core/run.ts";
import { sampleJournal } from "../store/sample-journal.ts";
import { METRICS } from "./metric-list.ts";
import { MetricRegistry } from "./metric-registry.ts";
import { OpenAsks } from "./open-asks.ts";

/** Asks a model; with its answer it asks a person. */
const asks = sampleJournal(3, 1)[0]?.after as Run;
const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
const outcome = { ok: true, value: { text: "done", calls: [], usage } } as const;
const facts: readonly Fact[] = [{ type: "answered", step: 1, outcome, hash: "h" }];
const waits = applyTurn(asks, { turn: asks.turn + 1, at: asks.now + 1, v: FACTS_VERSION, facts });

function counted(isShared: boolean) {
  const metrics = new MetricRegistry();
  const open = new OpenAsks(metrics);
  open.begin(0, isShared);
  const models = () => {
    const family = metrics.families().find(({ spec }) => spec === METRICS.openAsks);
    return family?.series.find(({ labels }) => labels["kind"] === "model")?.value ?? 0;
  };
  return { open, models };
}

test("what one process opened and another closed of a shared store is below nothing in neither", () => {
  const [one, other] = [counted(true), counted(true)];
  one.open.moved({ id: "r", before: emptyRun, after: asks });
  expect([one.models(), other.models()]).toEqual([1, 0]);
  other.open.moved({ id: "r", before: asks, after: waits });
  one.open.left("r");
  expect([one.models(), other.models()]).toEqual([0, 0]);
});

test("a run of a shared store that is taken up is counted as it is, and once", () => {
  const { open, models } = counted(true);
  open.took("r", asks);
  open.took("r", asks);
  expect(models()).toBe(1);
  open.moved({ id: "r", before: asks, after: waits });
  expect(models()).toBe(0);
  open.left("r");
  expect(models()).toBe(0);
});

test("where one process has the store, its turns are counted one by one", () => {
  const { open, models } = counted(false);
  open.moved({ id: "r", before: emptyRun, after: asks });
  open.moved({ id: "s", before: emptyRun, after: asks });
  open.moved({ id: "r", before: asks, after: waits });
  expect(models()).toBe(1);
});
