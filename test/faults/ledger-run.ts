// A process that drives one run whose model and tools live in another process: the ledger. Started with the
// store and the ledger's address; started again, it goes on. A call in doubt is settled as a clerk would: what
// the ledger has on record is supplied, what it has never heard of is asked for again.

import type { Json } from "../../src/base/json.ts";
import type { ModelReply, Outcome } from "../../src/core/facts.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { CallContext } from "../../src/engine/ports.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { digestOf } from "../../src/pack/link.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

const pack = `id: ledger
name: Ledger
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Pay., tools: [look, pay] }
tools:
  look: { name: look, description: Looks., parameters: { type: object, properties: {} } }
  pay: { name: pay, description: Pays., parameters: { type: object, properties: {} } }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 9, max_tool_calls: 9, max_wall_time_sec: 600 } }
  states:
    work: { prompt_task: p, on_event: { Done: end } }
    end: { prompt_task: p, terminal: true }
`;

const [path = "", ledger = ""] = process.argv.slice(2);
const clock = systemClock();

async function ask(what: "call" | "known", body: object): Promise<Json> {
  const reply = await fetch(`${ledger}/${what}`, { method: "POST", body: JSON.stringify(body) });
  return (await reply.json()) as Json;
}

const call = (name: string, { key, step, state, nth }: CallContext, args: Json = {}) =>
  ask("call", { pid: process.pid, name, key, step, state, nth, args });

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

const opened = openPack(pack, { file: "ledger.yaml" });
if (!opened.ok) throw opened.toError();
const { program } = opened;
const store = await openSqliteStore(path);
await using engine = new Engine({ store, clock, portsOf: () => Promise.resolve(ports) });
const [id, digest] = ["r_ledger", digestOf(program)];
if ((await engine.resume(id)) === undefined) {
  const input = { mode: "autonomous", variables: {}, input: "" } as const;
  await engine.start({ id, program, digest, source: pack, setup: {}, input });
}
for (let run = await engine.settled(id); run.final === null; run = await engine.settled(id)) {
  const step = Number(Object.entries(run.open).find(([, { hold }]) => hold === "in_doubt")?.[0]);
  const known = await ask("known", { key: `${id}/${step}` });
  const [at, by] = [clock.now(), "clerk"];
  const outcome = { ok: true as const, value: known };
  await engine.submit(
    id,
    known === null ? { type: "retry", at, step, by } : { type: "answer", at, step, outcome, by },
  );
}
