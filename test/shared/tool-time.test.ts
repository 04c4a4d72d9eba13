// Calls that are put off until a time are woken by the clock of the store; by the same one tools must say when.

import { expect, test } from "vitest";
import type { CallContext, Store } from "../../src/engine/ports.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { RunWorlds } from "../../src/host/run-worlds.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { sampleCreation, sampleJournal } from "../../src/store/sample-journal.ts";
import { SharedDisk, SharedMemory } from "./shared-memory.ts";
import { VirtualTime } from "./virtual-time.ts";

const [first] = sampleJournal(1, 1);
const tools = { nap: { builtin: "time", op: "sleep", seconds: 5 } };
const setup = { settings: { ...noSettings("."), tools } };
const context: CallContext = {
  ...{ run: "r", step: 1, key: "r/1", attempt: 1, signal: new AbortController().signal },
  ...{ state: "s", prompt: "p", nth: 0 },
};

/** What a sleep of five seconds says on a machine whose clock is right, or a year behind. */
async function until(own: VirtualTime, store: Store): Promise<unknown> {
  await store.commit({
    run: "r",
    ...(first as never as { row: never; after: never }),
    create: sampleCreation,
  });
  const terms = { clock: own, env: () => undefined, storePath: "runs.db", warn: () => undefined };
  await using worlds = new RunWorlds({ ...terms, adjust: () => setup.settings });
  const { tools: bound } = await worlds.portsOf(store, "r");
  return await bound.call("nap", {}, context);
}

test("where machines share a store, a sleep ends by the store's clock", async () => {
  const own = new VirtualTime();
  const [store, disk] = [memoryStore(), new SharedDisk()];
  const now = () => own.now() + 31_536_000_000;
  const shared = new SharedMemory({ id: "p", disk, store, now, tells: () => true });
  const both = Object.defineProperty(store, "shared", { value: shared });
  expect(await until(own, both)).toMatchObject({ deferred: true, until: now() + 5_000 });
});

test("where a machine has its store to itself, by its own", async () => {
  const own = new VirtualTime();
  expect(await until(own, memoryStore())).toMatchObject({ deferred: true, until: own.now() + 5_000 });
});
