// A worker process of packloop for `postgres.ts`: the engine as `packloop worker` composes it, with a model that
// answers at once. Started with the database's address, its name and how many runs it takes; tells its count when
// asked.

import { openPostgresStore } from "../src/store/postgres/postgres-store.ts";
import { loopWorker } from "./loop.ts";

const [url = "", , runs = "64"] = process.argv.slice(2);
let steps = 0;
const engine = loopWorker(await openPostgresStore(url), {
  takes: Number(runs),
  onTurn: () => {
    steps++;
  },
});
await engine.drive();
process.on("message", () => process.send?.(steps));
process.send?.("ready");
