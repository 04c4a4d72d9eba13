// Gateways as processes, to be killed, and their queue while none of them holds it.

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { QueueFile } from "../../src/gateway/queue/queue-file.ts";

const runner = fileURLToPath(new URL("gateway-runner.ts", import.meta.url));

export interface GatewayProcess {
  readonly child: ChildProcess;
  /** It works, or it has ended. */
  readonly ready: Promise<void>;
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly text: () => string;
}

/** Most of what a killed gateway costs is being started again; compiled code is kept for that. */
const cache = { NODE_COMPILE_CACHE: join(tmpdir(), "packloop-gateway-compiled") };

export function gatewayProcess(folder: string, mode: "idle" | "stay" = "stay", diesAt = ""): GatewayProcess {
  const env = { ...process.env, ...cache, GATEWAY_DIES_AT: diesAt };
  const child = spawn(process.execPath, [runner, folder, mode], { env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const ready = Promise.withResolvers<void>();
  const hear = (chunk: Buffer): void => {
    text += chunk.toString("utf8");
    if (text.includes("ready\n")) ready.resolve();
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const ended = once(child, "exit").then(([code, signal]) => {
    ready.resolve();
    return (code as number | null) ?? (signal as NodeJS.Signals);
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ready: ready.promise, ended, text: () => text };
}

/** Works until nothing is open. */
export async function runToEnd(folder: string): Promise<void> {
  const { ended, text } = gatewayProcess(folder, "idle");
  const code = await ended;
  if (code !== 0) throw new Error(`the gateway left with ${code}: ${text()}`);
}

export function withQueue<T>(folder: string, act: (file: QueueFile) => T): T {
  using file = new QueueFile({ path: join(folder, "state.db"), newId: randomUUID });
  return act(file);
}

/** Queues a start that may be attempted as often as its gateway is killed. */
export function startRun(file: QueueFile, run: string, pipeline = "start"): void {
  const event = JSON.stringify({ type: "agentic.start", payload: { run_id: run, goal: "g" } });
  const id = randomUUID();
  file.transaction(
    () =>
      file.run(
        `INSERT INTO job (id, plugin, command, payload, status, attempt, max_attempts, submitted_by, pipeline,
           step_id, instance_id, root_job_id, workspace_id, created_at)
         VALUES (?, 'agentic-loop', 'handle', ?, 'queued', 1, 500, 'cli', ?, 'agent', ?, ?, ?, 1)`,
        ...[id, event, pipeline, id, id, id],
      ),
    { durable: true },
  );
}

/** Always the same for a seed. */
export function chance(seed: number): () => number {
  let counter = seed;
  return () => {
    counter = (counter + 0x6d2b79f5) | 0;
    const once = Math.imul(counter ^ (counter >>> 15), counter | 1);
    const twice = once ^ (once + Math.imul(once ^ (once >>> 7), once | 61));
    return ((twice ^ (twice >>> 14)) >>> 0) / 4_294_967_296;
  };
}
