// A process may lose a run and have it again before it has noticed the end of what it was about to do.

import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { CallContext, Store } from "../../src/engine/ports.ts";
import { digestOf } from "../../src/pack/link.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { SharedDisk, SharedMemory } from "./shared-memory.ts";
import { replyOf, sharedPack } from "./shared-pack.ts";
import { VirtualTime } from "./virtual-time.ts";

test("a call that was about to leave when its run was lost leaves once the run comes back", async () => {
  const opened = openPack(sharedPack, { file: "shared.yaml" });
  if (!opened.ok) throw opened.toError();
  const { program } = opened;
  const [time, disk, kept] = [new VirtualTime(), new SharedDisk(), memoryStore()];
  const shared = new SharedMemory({ id: "p", disk, store: kept, now: () => time.now(), tells: () => true });
  const called: string[] = [];
  const ports = {
    model: { call: async (_: unknown, context: CallContext) => replyOf(context) },
    tools: {
      knows: () => true,
      isSafe: (tool: string) => tool === "look",
      call: async (tool: string) => {
        called.push(tool);
        return { ok: true as const, value: tool };
      },
    },
  };
  const slow = Promise.withResolvers<void>();
  let asked = 0;
  const portsOf = async () => {
    // The model's, then those of its two calls, which take their time.
    asked++;
    if (asked === 2 || asked === 3) await slow.promise;
    return ports;
  };
  const engine = new Engine({ store: sharedStore(kept, shared), clock: time, takes: 8, portsOf });
  const input = { mode: "autonomous", variables: {}, input: "" } as const;
  const terms = { program, digest: digestOf(program), source: "", setup: {}, input };
  const started = engine.start({ id: "r", ...terms });
  await time.until(() => asked === 3, 10_000);
  await started;
  await shared.letGo(["r"]);
  engine.drop("r");
  expect(await shared.claim(9)).toEqual(["r"]);
  await engine.resume("r");
  slow.resolve();
  await time.until(() => !disk.work.has("r"), 20_000);
  expect(called.toSorted(), "each of them once").toEqual(["endless", "look", "pay"]);
  const run = await engine.load("r");
  expect(run?.state, "it went on to where only people can move it").toBe("gate");
});

/** The journals of the store, with the bookkeeping of who drives what. */
function sharedStore(kept: Store, shared: SharedMemory): Store {
  const { journals } = shared;
  return new Proxy(kept, {
    get: (target, key) => {
      if (key === "shared") return shared;
      const of: object = key in journals ? journals : target;
      const value: unknown = Reflect.get(of, key, of);
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
}
