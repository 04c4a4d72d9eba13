import { expect, test } from "vitest";
import { emptyRun, type Run } from "../../src/core/run.ts";
import { leaves } from "../../src/engine/lease.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { sampleCreation, sampleJournal } from "../../src/store/sample-journal.ts";
import { SharedDisk, SharedMemory } from "./shared-memory.ts";
import { VirtualTime } from "./virtual-time.ts";

const [first] = sampleJournal(3, 1);
const asksWith = (hold: "in_doubt" | null) =>
  ({ open: { 1: { ask: { kind: "tool" }, hold } } }) as never as Run;

/** A call of a process that has a run and was not heard of for a while; what the journal says when it is. */
async function waited(journal: Run): Promise<{ readonly left: boolean; readonly looks: number }> {
  const [time, disk, store] = [new VirtualTime(), new SharedDisk(), memoryStore()];
  const shared = new SharedMemory({ id: "p", disk, store, now: () => time.now(), tells: () => true });
  await shared.beat();
  await shared.journals.commit({
    run: "r",
    ...(first as never as { row: never; after: never }),
    create: sampleCreation,
  });
  const { signal } = new AbortController();
  void time.sleep(9_000, signal);
  await time.until(() => !shared.isSure, 10_000);
  let looks = 0;
  const latest = async () => {
    looks++;
    return journal;
  };
  const door = { forget: () => undefined, latest };
  const left =
    leaves({ shared, clock: time, door }, { run: "r", step: 1, signal })?.() ?? Promise.resolve(true);
  void time.sleep(500, signal).then(() => shared.beat());
  let result: boolean | undefined;
  void left.then((value) => {
    result = value;
  });
  await time.until(() => result !== undefined, 20_000);
  return { left: result === true, looks };
}

test("a call that waited for a sign of life leaves when the journal still asks for it", async () => {
  expect(await waited(asksWith(null))).toEqual({ left: true, looks: 1 });
});

test("a call that somebody answered meanwhile does not", async () => {
  expect(await waited(emptyRun)).toEqual({ left: false, looks: 1 });
});

test("nor one that is in doubt by now", async () => {
  expect(await waited(asksWith("in_doubt"))).toEqual({ left: false, looks: 1 });
});
