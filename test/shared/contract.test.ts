import { memoryStore } from "../../src/store/memory.ts";
import { type SharedProcess, sharedContract } from "./contract.ts";
import { SharedDisk, SharedMemory } from "./shared-memory.ts";

sharedContract("the shared memory of tests keeps the promises of a shared store:", async () => {
  const [disk, store] = [new SharedDisk(), memoryStore()];
  let [count, now] = [0, 0];
  return {
    async open(): Promise<SharedProcess> {
      const id = `p${++count}`;
      const shared = new SharedMemory({ id, disk, store, now: () => now, tells: () => true });
      return { store: shared.journals, shared, [Symbol.asyncDispose]: async () => undefined };
    },
    async die() {
      now += 60_000;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
});
