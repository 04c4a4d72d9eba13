// P11: jobs a second of the gateway with a plugin that does nothing, over the bare cost of starting its
// process and waiting for it.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../src/engine/system-clock.ts";
import { readSetup } from "../src/gateway/config/config-file.ts";
import { Gateway } from "../src/gateway/gateway.ts";
import { countJobs } from "../src/gateway/queue/jobs.ts";
import { QueueFile } from "../src/gateway/queue/queue-file.ts";
import { triggerPipeline } from "../src/gateway/triggers.ts";
import type { Figure } from "./figure.ts";
import { interleaved, median, ratio } from "./measure.ts";

const JOBS = 40;

const plugin = `#!/bin/sh
read -r line
echo '{"status":"ok","result":"done"}'
`;

function writeGateway(folder: string): string {
  const home = join(folder, "plugins", "trivial");
  mkdirSync(home, { recursive: true });
  chmodSync(home, 0o755);
  const manifest = "{ name: trivial, version: '1', protocol: 2, entrypoint: run, commands: [handle] }\n";
  writeFileSync(join(home, "manifest.yaml"), manifest);
  writeFileSync(join(home, "run"), plugin);
  chmodSync(join(home, "run"), 0o755);
  const pipelines = "[{ name: p, on: go, steps: [{ id: a, uses: trivial }] }]";
  writeFileSync(join(folder, "config.yaml"), `state: { path: ./state.db }\npipelines: ${pipelines}\n`);
  return join(home, "run");
}

async function bare(program: string): Promise<void> {
  for (let n = 0; n < JOBS; n++) {
    const child = spawn(program, { stdio: "pipe", detached: true });
    child.stdout.resume();
    child.stdin.end("{}\n");
    await once(child, "close");
  }
}

export async function gatewayRate(folder: string): Promise<readonly Figure[]> {
  const program = writeGateway(folder);
  const setup = readSetup({ file: join(folder, "config.yaml"), env: () => undefined });
  const pipeline = setup.pipelines.get("p");
  if (pipeline === undefined) throw new Error(setup.errors.join("\n"));
  using file = new QueueFile({ path: setup.config.statePath, newId: randomUUID });
  const clock = systemClock();
  const quiet = () => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const gateway = new Gateway({ setup, file, clock, log, random: () => 0 });
  const working = gateway.run();
  const queued = async (): Promise<void> => {
    const terms = { file, catalog: gateway.catalog, now: clock.now(), dedupeTtlMs: 1_000 };
    const done = Promise.withResolvers<void>();
    for (let n = 0; n < JOBS; n++)
      triggerPipeline(pipeline, { payload: { n }, dedupeKey: null, submittedBy: "cli" }, terms);
    const forget = file.onChange(() => {
      if (countJobs(file, "queued") + countJobs(file, "running") === 0) done.resolve();
    });
    await done.promise;
    forget();
  };
  const times = await interleaved(
    { bare: () => bare(program), gateway: queued },
    { rounds: 40, warmUp: 2, forMs: 30_000 },
  );
  await gateway.stop();
  await working;
  const { value, quickest } = ratio(times.gateway, times.bare);
  const ms = (list: readonly number[]) => (median(list) / JOBS).toFixed(1);
  const rate = ((1000 * JOBS) / median(times.gateway)).toFixed(0);
  const from = `${rate} jobs a second; ${ms(times.gateway)} ms a job, process alone ${ms(times.bare)} ms`;
  return [
    {
      id: "P11",
      what: "a trivial job over its process",
      value,
      quickest,
      unit: "x",
      bar: { max: 2.5 },
      from,
    },
  ];
}
