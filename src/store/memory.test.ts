import { storeConformance } from "./conformance.ts";
import { MemoryDisk, memoryStore } from "./memory.ts";

storeConformance("the store in memory", async () => {
  const disk = new MemoryDisk();
  return { store: memoryStore(disk), reopen: async () => memoryStore(disk) };
});
