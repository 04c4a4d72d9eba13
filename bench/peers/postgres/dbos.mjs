// A process of DBOS: so many workflows at once, each an endless loop of steps that return a note of 100 bytes.
// Started with the database's address, its own name and the number of workflows; tells its count when asked.

import { DBOS } from "@dbos-inc/dbos-sdk";
import { Pool } from "pg";

const [url, name, runs] = process.argv.slice(2);
process.env.DBOS__VMID = name;
let steps = 0;
const note = "a note of a hundred bytes, ".padEnd(100, "which says nothing in particular; ");

const loop = DBOS.registerWorkflow(
  async () => {
    for (;;) {
      await DBOS.runStep(async () => note, { name: "write" });
      steps++;
    }
  },
  { name: "loop" },
);

const systemDatabasePool = new Pool({ connectionString: url, max: 20 });
DBOS.setConfig({ name: "bench", systemDatabasePool, systemDatabaseUrl: url, logLevel: "error" });
await DBOS.launch();
for (let n = 0; n < Number(runs); n++) await DBOS.startWorkflow(loop, { workflowID: `${name}-${n}` })();
process.on("message", () => process.send(steps));
process.send("ready");
