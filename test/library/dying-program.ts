// A program that embeds packloop and is killed by its own tool. Arguments: the store, `idempotent` or `unsafe`.

import { appendFileSync } from "node:fs";
import type { JsonObject } from "../../src/base/json.ts";
import { createEngine } from "../../src/library/packloop.ts";
import { sqliteStore } from "../../src/library/sqlite.ts";
import { openPack } from "../../src/pack/pack.ts";

const text = `id: pay
name: Pay
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  pay: { id: pay, name: Pay, version: 1.0.0, system_template: Pay., tools: [transfer] }
tools:
  transfer: { name: transfer, description: Sends money }
`;

const script: JsonObject = { prompts: { pay: [{ calls: [{ tool: "transfer" }] }, { text: "paid" }] } };
const [path = "", safety = ""] = process.argv.slice(2);
const pack = openPack(text);
if (!pack.ok) throw pack.toError();
await using engine = await createEngine({
  store: sqliteStore(path),
  model: { script },
  tools: {
    transfer: {
      idempotent: safety === "idempotent",
      execute: (_args: unknown, { key }: { key: string }) => {
        appendFileSync(`${path}.paid`, `${key}\n`);
        if (process.env["DIE"] === "yes") process.kill(process.pid, "SIGKILL");
        return "done";
      },
    },
  },
});
const run = await engine.start(pack.program, { idempotencyKey: "pay" });
process.stdout.write(JSON.stringify(await run.result()));
