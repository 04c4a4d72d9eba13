// A process dies when it has stopped an agent and has not said yet what that agent came to.

import { expect, test } from "vitest";
import { Engine } from "../../src/engine/engine.ts";
import type { CallContext, Store } from "../../src/engine/ports.ts";
import { digestOf } from "../../src/pack/link.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { SharedDisk, SharedMemory } from "./shared-memory.ts";
import { VirtualTime } from "./virtual-time.ts";

const text = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  lead: { id: lead, name: L, version: 1.0.0, system_template: Lead., tools: [scout] }
  scout: { id: scout, name: S, version: 1.0.0, system_template: Look. }
agents: { entry: lead, members: { lead: {}, scout: {} } }
workflow:
  version: 2
  entry: work
  engine: { budget_ext: { max_model_calls: 3 } }
  states:
    work: { prompt_task: lead, orchestration: hybrid, on_event: { End: end } }
    end: { prompt_task: lead, terminal: true }
`;

const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

test("who takes up only the caller hears of it all the same, and goes on", async () => {
  const opened = openPack(text, { file: "s.yaml" });
  if (!opened.ok) throw opened.toError();
  const { program } = opened;
  const [time, disk, kept] = [new VirtualTime(), new SharedDisk(), memoryStore()];
  let dead = false;
  const engineOf = (id: string, breathes: () => boolean): Engine => {
    const shared = new SharedMemory({ id, disk, store: kept, now: () => time.now(), tells: () => true });
    const model = {
      call: async (_: unknown, { run, state }: CallContext) => {
        if (run.includes("/")) return new Promise<never>(() => undefined);
        const calls = state === "work" ? [{ id: "1", tool: "scout", args: { query: "it" } }] : [];
        return { text: "over", calls, usage };
      },
    };
    const tools = { knows: () => true, isSafe: () => true, call: () => Promise.reject(new Error("none")) };
    return new Engine({
      store: sharedStore(kept, shared, breathes),
      clock: time,
      portsOf: async () => ({ model, tools }),
      onTurn: (run, _row, { final }) => {
        if (run === "r/3" && final !== null) dead = true;
      },
    });
  };
  const first = engineOf("p", () => !dead);
  const input = { mode: "autonomous", variables: {}, input: "" } as const;
  const terms = { program, digest: digestOf(program), source: "", setup: {}, input };
  void first.start({ id: "r", ...terms });
  await time.until(() => disk.turn.has("r/3"), 10_000);
  void first.submit("r", { type: "event", at: time.now(), name: "End", by: "ann" });
  await time.until(() => dead, 10_000);
  const second = engineOf("q", () => true);
  let resumed = false;
  void time.sleep(9_000, new AbortController().signal).then(async () => {
    await second.drive();
    await second.resume("r");
    resumed = true;
  });
  await time.until(() => resumed && disk.ended.has("r"), 60_000);
  const run = await second.load("r");
  expect(run).toMatchObject({ final: "completed", usedByAgents: { modelCalls: 1 } });
});

/** The journals of the store, with the bookkeeping of who drives what; the dead neither write nor beat. */
function sharedStore(kept: Store, shared: SharedMemory, breathes: () => boolean): Store {
  const never = () => new Promise<never>(() => undefined);
  const mortal = <T extends object>(parts: T, others: object, vital: string): T =>
    new Proxy(parts, {
      get: (target, key) => {
        const of = key in target ? target : others;
        const value: unknown = Reflect.get(of, key, of);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown =>
          key === vital && !breathes() ? never() : Reflect.apply(value, of, args);
      },
    });
  const store = mortal<object>({ ...shared.journals, shared: mortal(shared, {}, "beat") }, kept, "commit");
  return store as Store;
}
