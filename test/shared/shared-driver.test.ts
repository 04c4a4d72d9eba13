// A process that stops takes its time for what is under way, and others must neither take that from it nor wait
// for the rest.

import { expect, test } from "vitest";
import { SharedDriver } from "../../src/engine/shared-driver.ts";
import { storeClock } from "../../src/engine/store-clock.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { sampleCreation, sampleJournal } from "../../src/store/sample-journal.ts";
import { SharedDisk, SharedMemory } from "./shared-memory.ts";
import { VirtualTime } from "./virtual-time.ts";

const [first] = sampleJournal(3, 1);

/** Two runs that one process drives, one of them with a call under way. */
async function driven() {
  const [time, disk, store] = [new VirtualTime(), new SharedDisk(), memoryStore()];
  const now = () => time.now();
  const open = (id: string) => new SharedMemory({ id, disk, store, now, tells: () => true });
  const shared = open("stops");
  const dropped: string[] = [];
  const busy = new Set(["busy"]);
  const engine = {
    resume: async () => undefined,
    drop: (run: string) => dropped.push(run),
    heard: () => undefined,
    isBusy: (run: string) => busy.has(run),
  };
  const failed: unknown[] = [];
  const driver = new SharedDriver({
    ...{ engine, shared, clock: time, runs: 9 },
    failed: (error) => failed.push(error),
  });
  await driver.start();
  for (const run of ["busy", "quiet"])
    await shared.journals.commit({
      run,
      ...(first as never as { row: never; after: never }),
      create: sampleCreation,
    });
  return { time, disk, shared, driver, dropped, busy, failed, survivor: open("survives") };
}

test("who stops hands on at once what has nothing under way, and keeps the rest while it lives", async () => {
  const { time, disk, driver, dropped, busy, survivor } = await driven();
  driver.rest();
  const from = time.now();
  await time.until(() => dropped.length > 0, 1_000);
  expect([dropped, disk.driver.get("busy"), disk.driver.get("quiet")]).toEqual([
    ["quiet"],
    "stops",
    undefined,
  ]);
  await time.until(() => time.now() - from > 9_000, 10_000);
  await survivor.beat();
  expect(await survivor.claim(9), "others take only what was handed on").toEqual(["quiet"]);
  busy.clear();
  await time.until(() => dropped.length > 1, 2_000);
  expect(await survivor.claim(9)).toEqual(["busy"]);
  await driver.stop();
});

test("who stops takes up nothing more", async () => {
  const { time, disk, driver, dropped, survivor } = await driven();
  driver.rest();
  await time.until(() => dropped.length > 0, 1_000);
  await survivor.beat();
  await time.until(() => time.now() > (disk.beats.get("survives") ?? 0) + 2_000, 5_000);
  expect(disk.driver.get("quiet")).toBeUndefined();
  await driver.stop();
});

test("who stops does not wait for a store that is away", async () => {
  const { time, shared, driver, failed } = await driven();
  let isAsked = false;
  shared.beat = () => {
    isAsked = true;
    return new Promise(() => undefined);
  };
  driver.rest();
  await time.until(() => isAsked, 3_000);
  let isStopped = false;
  void driver.stop().then(() => {
    isStopped = true;
  });
  await time.until(() => isStopped, 3_000);
  expect(failed).toEqual([]);
});

test("the time of a shared store is told by the store, and never goes back", () => {
  const own = new VirtualTime();
  let told = 5_000.7;
  const clock = storeClock(own, { now: () => told });
  expect(clock.now()).toBe(5_000);
  told = 4_000;
  expect(clock.now()).toBe(5_000);
  told = 6_000;
  expect(clock.now()).toBe(6_000);
});
