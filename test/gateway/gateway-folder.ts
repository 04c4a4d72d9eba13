// A folder with a gateway's configuration and stand-in plugins, and a gateway in this process that runs it.

import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import type { JsonObject } from "../../src/base/json.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { type GatewaySetup, readSetup } from "../../src/gateway/config/config-file.ts";
import { Door } from "../../src/gateway/door/door.ts";
import { Gateway, type GatewayLog } from "../../src/gateway/gateway.ts";
import type { Job } from "../../src/gateway/queue/job.ts";
import { listJobs } from "../../src/gateway/queue/jobs.ts";
import { QueueFile } from "../../src/gateway/queue/queue-file.ts";
import { type Trigger, triggerCommand, triggerPipeline } from "../../src/gateway/triggers.ts";

/** The body of a plugin: JavaScript with `request` and `payload`, returning the document. */
export type Bodies = Readonly<Record<string, string>>;

export interface FolderParts {
  readonly plugins?: Bodies;
  readonly config?: JsonObject;
  readonly pipelines?: readonly JsonObject[];
  readonly manifests?: Readonly<Record<string, JsonObject>>;
}

export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "packloop-gateway-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

export function writePlugin(root: string, name: string, text: string, manifest: JsonObject = {}): void {
  const home = join(root, name);
  mkdirSync(home, { recursive: true });
  chmodSync(home, 0o755);
  const commands = ["handle", "poll", "health"];
  const whole = { name, version: "1", protocol: 2, entrypoint: "run", commands, ...manifest };
  writeFileSync(join(home, "manifest.yaml"), stringify(whole));
  writeFileSync(join(home, "run"), text);
  chmodSync(join(home, "run"), 0o755);
}

/** A plugin in the language of this process. */
export function nodePlugin(body: string): string {
  return `#!${process.execPath}
const fs = require("node:fs");
const request = JSON.parse(fs.readFileSync(0, "utf8"));
const payload = request.event?.payload ?? {};
const document = (() => { ${body} })();
if (document !== undefined) process.stdout.write(JSON.stringify(document));
`;
}

export const shellPlugin = (body: string): string => `#!/bin/sh\n${body}\n`;

/** What most stand-ins do. */
export const emits = (...events: readonly JsonObject[]): string =>
  shellPlugin(
    `cat > /dev/null\ncat <<'END'\n${JSON.stringify({ status: "ok", result: "done", events })}\nEND`,
  );

export function gatewayFolder({
  plugins = {},
  config = {},
  pipelines = [],
  manifests = {},
}: FolderParts): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "plugins"));
  for (const [name, text] of Object.entries(plugins))
    writePlugin(join(folder, "plugins"), name, text, manifests[name]);
  const whole = { state: { path: "./state.db" }, ...config, pipelines };
  writeFileSync(join(folder, "config.yaml"), stringify(whole));
  return folder;
}

export const setupOf = (folder: string, env: Readonly<Record<string, string>> = {}): GatewaySetup =>
  readSetup({ file: join(folder, "config.yaml"), env: (name) => env[name] });

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly data: JsonObject;
}

export interface Opened {
  readonly setup: GatewaySetup;
  readonly file: QueueFile;
  readonly gateway: Gateway;
  readonly logged: readonly LogLine[];
  readonly trigger: (pipeline: string, payload?: JsonObject, dedupeKey?: string) => string;
  readonly command: (plugin: string, command: string, payload?: JsonObject) => string;
  /** Every job, in the order of the queue. */
  readonly jobs: () => readonly Job[];
  /** Works until no job is open. */
  readonly settled: () => Promise<readonly Job[]>;
  readonly door: () => Promise<string>;
}

/** Opens what is in the folder; closed with the test. */
export function openGateway(folder: string, env: Readonly<Record<string, string>> = {}): Opened {
  const setup = setupOf(folder, env);
  if (setup.errors.length > 0) throw new Error(setup.errors.join("\n"));
  const file = new QueueFile({ path: setup.config.statePath, newId: randomUUID });
  const logged: LogLine[] = [];
  const line = (level: string) => (data: object, message: string) =>
    void logged.push({ level, message, data: data as JsonObject });
  const log: GatewayLog = {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
  };
  const clock = systemClock();
  const gateway = new Gateway({ setup, file, clock, log, random: () => 0 });
  let running: Promise<void> | undefined;
  const run = (): void => {
    running ??= gateway.run();
    running.catch(() => undefined);
  };
  onTestFinished(async () => {
    const ending = gateway.stop();
    gateway.stop().catch(() => undefined);
    await ending.catch(() => undefined);
    file[Symbol.dispose]();
  });
  const jobs = () => listJobs(file, { limit: 100_000 }).toReversed();
  const terms = () => {
    const { dedupeTtlMs } = setup.config.service;
    return { file, catalog: gateway.catalog, now: clock.now(), dedupeTtlMs };
  };
  return {
    ...{ setup, file, gateway, logged, jobs },
    trigger(name, payload = {}, dedupeKey) {
      const pipeline = setup.pipelines.get(name);
      if (pipeline === undefined) throw new Error(`no pipeline ${name}`);
      const trigger: Trigger = { payload, dedupeKey: dedupeKey ?? null, submittedBy: "api" };
      const queued = triggerPipeline(pipeline, trigger, terms());
      if ("code" in queued) throw new Error(queued.message);
      return queued.id;
    },
    command(plugin, command, payload = {}) {
      const trigger: Trigger = { payload, dedupeKey: null, submittedBy: "api" };
      return triggerCommand({ plugin, command }, trigger, terms()).id;
    },
    async settled() {
      const isOpen = () => jobs().some(({ status }) => status === "queued" || status === "running");
      const quiet = Promise.withResolvers<void>();
      const forget = file.onChange(() => {
        if (!isOpen()) quiet.resolve();
      });
      run();
      if (!isOpen()) quiet.resolve();
      await Promise.race([quiet.promise, running]);
      forget();
      return jobs();
    },
    async door() {
      const door = new Door({ setup, file, catalog: gateway.catalog, clock, log });
      const url = await door.open();
      onTestFinished(() => door.close());
      run();
      return url;
    },
  };
}
