// A gateway as a process of its own, without the command line around it: runs a folder until nothing is open,
// or until it is killed. Says `ready` when it works. GATEWAY_DIES_AT says at which transaction it kills itself:
// `durable 2 inside` is in the middle of the one that ends the first job, `quick 1 after` when it was claimed.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../src/engine/system-clock.ts";
import { readSetup } from "../../src/gateway/config/config-file.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { countJobs } from "../../src/gateway/queue/jobs.ts";
import { QueueFile } from "../../src/gateway/queue/queue-file.ts";

const [folder = ".", mode = "idle"] = process.argv.slice(2);
const setup = readSetup({ file: join(folder, "config.yaml"), env: (name) => process.env[name] });
if (setup.errors.length > 0) throw new Error(setup.errors.join("\n"));
const file = new QueueFile({ path: setup.config.statePath, newId: randomUUID });
dieAt(process.env["GATEWAY_DIES_AT"] ?? "");
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const gateway = new Gateway({ setup, file, clock: systemClock(), log, random: () => 0 });
const leave = (): void => {
  if (mode === "idle" && countJobs(file, "queued") + countJobs(file, "running") === 0) void gateway.stop();
};
file.onChange(leave);
process.on("SIGTERM", () => void gateway.stop());
const working = gateway.run();
process.stdout.write("ready\n");
leave();
await working;
file[Symbol.dispose]();

function dieAt(plan: string): void {
  const [kind, nth, where] = plan.split(" ");
  const transaction = file.transaction.bind(file);
  let left = Number(nth);
  file.transaction = (act, options) => {
    const isIt = kind === (options.durable ? "durable" : "quick") && --left === 0;
    const die = (here: string): void => {
      if (isIt && where === here) process.kill(process.pid, "SIGKILL");
    };
    die("before");
    const made = transaction(() => {
      const done = act();
      die("inside");
      return done;
    }, options);
    die("after");
    return made;
  };
}
