// `npx node bench/telemetry-cost.ts`: what it costs a run to be watched. The same run in three processes that
// take turns: unwatched, watched where nobody has registered a provider, and watched by an SDK whose collector
// is not there.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { EngineObserver } from "../src/engine/observer.ts";
import { memoryStore } from "../src/store/memory.ts";
import { startSdk } from "../src/telemetry/start-sdk.ts";
import { Telemetry } from "../src/telemetry/telemetry.ts";
import { LoopModel, loopEngine } from "./loop.ts";
import { median, ratio } from "./measure.ts";

const VISITS = 1_500;
const ROUNDS = 60;
const WARM_UP = 5;
const CASES = ["unwatched", "observer", "sdk"] as const;
type Case = (typeof CASES)[number];

const [asked] = process.argv.slice(2);
await (asked === undefined ? compare() : serve(asked as Case));

/** Of a busy machine the time on the clock says little: compared is what the processes had of the processor. */
async function compare(): Promise<void> {
  const children = new Map<Case, ChildProcess>();
  for (const one of CASES) {
    const child = fork(import.meta.filename, [one]);
    children.set(one, child);
    await once(child, "message");
  }
  const used: Record<Case, number[]> = { unwatched: [], observer: [], sdk: [] };
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [one, child] of children) {
      child.send("go");
      const [ms] = (await once(child, "message")) as [number];
      if (round >= 0) used[one].push(ms);
    }
  }
  for (const one of CASES) {
    const { value, quickest } = ratio(used[one], used.unwatched);
    const us = ((median(used[one]) * 1_000) / VISITS).toFixed(1);
    const ratios = `${value.toFixed(3)} x unwatched, quickest ${quickest.toFixed(3)} x`;
    process.stdout.write(`${one.padEnd(10)} ${us} us a visit, ${ratios}\n`);
  }
  for (const child of children.values()) child.kill();
}

/** One run for each word of the parent. */
async function serve(one: Case): Promise<void> {
  if (one === "sdk") {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
    await startSdk({ env, warn: (line) => process.stderr.write(`${line}\n`), folder: "." });
  }
  const observer = (): EngineObserver | undefined => (one === "unwatched" ? undefined : new Telemetry());
  const measured = async (): Promise<void> => {
    await using loop = loopEngine(memoryStore(), "replace", new LoopModel(), observer());
    const before = process.cpuUsage();
    await loop.steps("run", VISITS);
    const { user, system } = process.cpuUsage(before);
    process.send?.((user + system) / 1_000);
  };
  process.on("message", () => void measured());
  process.send?.("ready");
}
