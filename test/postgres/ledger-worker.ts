// A worker process as `packloop worker` composes it, for runs whose model and tools live in another process: the
// ledger. Started with the store's address and the ledger's; says so once it works.

import { request } from "node:http";
import { json } from "node:stream/consumers";
import type { Json } from "../../src/base/json.ts";
import type { ModelReply, Outcome } from "../../src/core/facts.ts";
import { Engine } from "../../src/engine/engine.ts";
import { type CallContext, Fault } from "../../src/engine/ports.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";

const [url = "", ledger = "", runs = "64"] = process.argv.slice(2);

async function call(name: string, { key, run, step, state, nth }: CallContext, args: Json = {}) {
  const body = JSON.stringify({ pid: process.pid, run, name, key, step, state, nth, args });
  const answer = await new Promise<Json>((resolve, reject) => {
    const sent = request(ledger, { method: "POST" }, (response) => {
      json(response).then((value) => resolve(value as Json), reject);
    });
    sent.on("error", reject).end(body);
  }).catch((error: unknown) => {
    throw new Fault("ledger", "the ledger cannot be reached", { retry: "unknown", cause: error });
  });
  return answer;
}

const ports = {
  model: {
    call: async (_: unknown, context: CallContext) => (await call("model", context)) as never as ModelReply,
  },
  tools: {
    knows: () => true,
    isSafe: (tool: string) => tool === "look",
    call: async (tool: string, args: Json, context: CallContext): Promise<Outcome> => {
      return { ok: true, value: await call(tool, context, args) };
    },
  },
};

const engine = new Engine({
  store: await openPostgresStore(url),
  clock: systemClock(),
  portsOf: () => Promise.resolve(ports),
  takes: Number(runs),
  onFailed: (run, error) => process.stderr.write(`${process.pid} ${run}: ${String(error)}\n`),
});
await engine.drive();
process.stdout.write("working\n");
process.once("SIGTERM", () => {
  void engine[Symbol.asyncDispose]().then(() => process.exit(0));
});
