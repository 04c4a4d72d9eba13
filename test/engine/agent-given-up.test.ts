// S43 in a moment the simulator rarely meets: a caller is cancelled while its agent is being started.

import { expect, test } from "vitest";
import type { Store } from "../../src/engine/ports.ts";
import { createEngine } from "../../src/library/packloop.ts";
import { openPack } from "../../src/pack/pack.ts";
import { memoryStore } from "../../src/store/memory.ts";

const text = `id: pair
name: Pair
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  lead: { id: lead, name: L, version: 1.0.0, system_template: Lead., tools: [clerk] }
  clerk: { id: clerk, name: C, version: 1.0.0, system_template: Write. }
agents:
  entry: lead
  members: { lead: { description: Leads }, clerk: { description: Writes } }
`;

test("an agent that is started for a caller who has given it up is stopped", async () => {
  const pack = openPack(text, { file: "pair.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  const looked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const inner = memoryStore();
  // Starting an agent looks up what its caller was started with: there it is held.
  const store: Store = new Proxy(inner, {
    get(target, key: keyof Store) {
      const found = target[key] as ((...args: unknown[]) => Promise<unknown>) | undefined;
      const method = found?.bind(target);
      if (key !== "record" || method === undefined) return method;
      return async (...args: unknown[]) => {
        looked.resolve();
        await goOn.promise;
        return method(...args);
      };
    },
  });
  const clerk = [{ text: "written", delay_ms: 60_000 }];
  const script = { prompts: { lead: [{ calls: [{ tool: "clerk", args: { query: "write" } }] }], clerk } };
  await using engine = await createEngine({ store, model: { script } });
  const run = await engine.start(pack.program, { prompt: "lead" });
  await looked.promise;
  await run.cancel({ by: "ann" });
  goOn.resolve();
  const child = engine.run(`${run.id}/2`);
  const status = () =>
    child.summary().then(
      (summary) => summary.status,
      () => "not started",
    );
  await expect.poll(status).toBe("cancelled");
});
