// What processes that share a store may rely on: which runs are whose, and what each is told of its own. Kept by
// PostgreSQL and by the memory that the seeds are played on.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { applyTurn } from "../../src/core/apply.ts";
import { FACTS_VERSION, type Fact } from "../../src/core/facts.ts";
import type { Run } from "../../src/core/run.ts";
import type { SharedRuns, Store } from "../../src/engine/ports.ts";
import { sampleCreation, sampleJournal } from "../../src/store/sample-journal.ts";

export interface SharedProcess extends AsyncDisposable {
  readonly store: Pick<Store, "commit">;
  readonly shared: SharedRuns;
}

export interface SharedPlace extends AsyncDisposable {
  open(): Promise<SharedProcess>;
  /** The process says nothing more, and long enough has passed. */
  die(process: SharedProcess): Promise<void>;
}

/** The first turn asks a model; with its answer there is nothing left to do. */
const [begun] = sampleJournal(3, 1);
const first = begun as { row: Parameters<typeof applyTurn>[1]; after: Run };
const later = (before: Run, facts: readonly Fact[]) => {
  const row = { turn: before.turn + 1, at: before.now + 1, v: FACTS_VERSION, facts };
  return { row, after: applyTurn(before, row) };
};
const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
const outcome = { ok: true, value: { text: "done", calls: [], usage } } as const;
const answered = later(first.after, [{ type: "answered", step: 1, outcome, hash: "h" }]);
const noted = later(first.after, [{ type: "noted", what: "message", text: "said", by: "somebody" }]);

export function sharedContract(name: string, openPlace: () => Promise<SharedPlace>): void {
  describe(name, () => {
    let place: SharedPlace;
    let a: SharedProcess;
    let b: SharedProcess;
    beforeEach(async () => {
      place = await openPlace();
      [a, b] = [await place.open(), await place.open()];
      await a.shared.beat();
      await b.shared.beat();
    });
    afterEach(() => place[Symbol.asyncDispose]());

    const start = (by: SharedProcess, run = "r") =>
      by.store.commit({ run, ...first, create: sampleCreation });

    test("who starts a run drives it", async () => {
      await start(a);
      expect([a.shared.isOurs("r"), b.shared.isOurs("r")]).toEqual([true, false]);
      expect(a.shared.held).toBe(1);
    });

    test("a run that somebody drives is claimed by nobody else", async () => {
      await start(a);
      expect(await b.shared.claim(9, 0)).toEqual([]);
      expect(await b.shared.claimOne("r")).toBe(false);
      expect(await a.shared.claimOne("r")).toBe(true);
    });

    test("a run that wants work and has nobody is claimed once", async () => {
      const idle = await place.open();
      await start(idle, "x");
      expect(idle.shared.isOurs("x")).toBe(false);
      const claimed = await Promise.all([a.shared.claim(9, 0), b.shared.claim(9, 0)]);
      expect(claimed.flat()).toEqual(["x"]);
    });

    test("no more runs are claimed than asked for", async () => {
      const idle = await place.open();
      for (const run of ["x", "y", "z"]) await start(idle, run);
      expect(await a.shared.claim(2, 0)).toHaveLength(2);
      expect(await a.shared.claim(0, 0)).toEqual([]);
    });

    test("a run without work is let go by the turn that says so", async () => {
      await start(a);
      expect(await a.store.commit({ run: "r", ...answered })).toBe(true);
      expect(a.shared.isOurs("r")).toBe(false);
      expect(await b.shared.claimOne("r")).toBe(true);
    });

    test("a turn of somebody else leaves the run to its driver, who is told once", async () => {
      await start(a);
      expect(await b.store.commit({ run: "r", ...noted })).toBe(true);
      expect(b.shared.isOurs("r")).toBe(false);
      expect(await a.shared.beat()).toEqual({ moved: ["r"], lost: [] });
      expect(await a.shared.beat()).toEqual({ moved: [], lost: [] });
    });

    test("a turn of our own behind one of somebody else does not hide it", async () => {
      await start(a);
      await b.store.commit({ run: "r", ...noted });
      const own = later(noted.after, [{ type: "noted", what: "message", text: "own", by: "a" }]);
      expect(await a.store.commit({ run: "r", ...own })).toBe(true);
      expect((await a.shared.beat()).moved).toEqual(["r"]);
    });

    test("own turns are no news", async () => {
      await start(a);
      await a.store.commit({ run: "r", ...noted });
      expect(await a.shared.beat()).toEqual({ moved: [], lost: [] });
    });

    test("own turns after a rest are no news either", async () => {
      await start(a);
      await a.store.commit({ run: "r", ...answered });
      expect((await a.shared.beat()).moved).toEqual([]);
      const asked = { kind: "model", round: 2, nth: 1, tools: true } as const;
      const again = later(answered.after, [{ type: "asked", step: 3, ask: asked }]);
      expect(await a.store.commit({ run: "r", ...again })).toBe(true);
      expect(a.shared.isOurs("r")).toBe(true);
      expect((await a.shared.beat()).moved).toEqual([]);
    });

    test("who comes to drive a run by a turn of its own is told of the work that lay there", async () => {
      const idle = await place.open();
      await start(idle, "x");
      expect(await a.store.commit({ run: "x", ...noted })).toBe(true);
      expect(a.shared.isOurs("x")).toBe(true);
      expect((await a.shared.beat()).moved).toEqual(["x"]);
    });

    test("the runs of who died are free, and lost to it should it live", async () => {
      await start(a);
      await place.die(a);
      const claimed = async (): Promise<readonly string[]> => {
        await b.shared.beat();
        const runs = await b.shared.claim(9, 0);
        return runs.length > 0 ? runs : claimed();
      };
      expect(await claimed()).toEqual(["r"]);
      expect((await a.shared.beat()).lost).toEqual(["r"]);
      expect(a.shared.isOurs("r")).toBe(false);
    });

    test("a run that is let go is free at once, and no longer ours", async () => {
      await start(a);
      await start(a, "s");
      await a.shared.letGo(["r"]);
      expect([a.shared.isOurs("r"), a.shared.isOurs("s"), [...a.shared.ours]]).toEqual([false, true, ["s"]]);
      expect(await b.shared.claim(9, 0)).toEqual(["r"]);
      await a.shared.letGo(["r"]);
      expect((await b.shared.beat()).lost, "what others have is not let go").toEqual([]);
      expect(await a.shared.beat()).toEqual({ moved: [], lost: [] });
    });

    test("who has given a sign of life is sure of its runs, and who never has is not", async () => {
      const silent = await place.open();
      expect([a.shared.isSure, silent.shared.isSure]).toEqual([true, false]);
    });

    test("where runs stand is told in one look", async () => {
      await start(a);
      await a.store.commit({ run: "r", ...answered });
      await start(a, "s");
      expect(await b.shared.standing(["r", "s", "nobody"])).toEqual(
        new Map([
          ["r", { turn: 2, work: false }],
          ["s", { turn: 1, work: true }],
        ]),
      );
    });
  });
}
