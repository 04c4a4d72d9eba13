// The gateway at work: takes one job at a time from the queue, runs its plugin, commits what came of it. It
// holds nothing that matters: whatever is lost with the process is found again in the queue.

import { get } from "../base/json.ts";
import type { Clock } from "../engine/ports.ts";
import type { GatewaySetup } from "./config/config-file.ts";
import type { InstalledPlugin } from "./installed-plugins.ts";
import { pluginRequest } from "./plugin-request.ts";
import { endGroup, startOf } from "./process-identity.ts";
import type { Context, Job } from "./queue/job.ts";
import { claim, contextOf, nextRetryAt, recordSpawn, runningJobs, stateOf } from "./queue/jobs.ts";
import type { QueueFile } from "./queue/queue-file.ts";
import { settle, type Trace } from "./queue/settle.ts";
import type { Catalog } from "./router/follow.ts";
import { crashOutcome, type JobFailure, type Outcome, outcomeOf } from "./router/outcome.ts";
import { type JobRun, runJob } from "./run-job.ts";
import { tick } from "./scheduler.ts";
import { upkeep } from "./upkeep.ts";
import { Workspaces } from "./workspaces.ts";

/** What a gateway tells its log. */
export interface GatewayLog {
  debug(data: object, message: string): void;
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
}

export interface GatewayOptions {
  readonly setup: GatewaySetup;
  readonly file: QueueFile;
  readonly clock: Clock;
  readonly log: GatewayLog;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** An idle gateway looks again so often. */
const IDLE_MS = 1_000;

const TIMEOUTS_MS: ReadonlyMap<string, number> = new Map([
  ["poll", 60_000],
  ["handle", 120_000],
  ["health", 10_000],
  ["init", 30_000],
]);
const TIMEOUT_MS = 60_000;

/** How long a running plugin has when the gateway is told to stop a second time. */
const HURRY_MS = 5_000;

export class Gateway {
  readonly catalog: Catalog;
  readonly #options: GatewayOptions;
  readonly #workspaces: Workspaces;
  /** Ends waiting, not work. */
  readonly #stop = new AbortController();
  /** Ends the running plugin. */
  readonly #giveUp = new AbortController();
  readonly #strangeKeys = new Set<string>();
  #working: Promise<void> = Promise.resolve();

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#workspaces = new Workspaces(options.setup.config.statePath);
    this.catalog = catalogOf(options.setup);
  }

  get isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Takes up what an earlier gateway left, then works until it is stopped. Rejects when the state fails. */
  run(): Promise<void> {
    this.#recover();
    const both = Promise.all([this.#work(), this.#tickAlways()]);
    // When one of them fails, the other has nothing left to do.
    this.#working = both.then(() => undefined).finally(() => this.#stop.abort());
    return this.#working;
  }

  /** Takes no more jobs and lets the running one end; called again, it has five seconds. */
  async stop(): Promise<void> {
    if (this.isStopping) {
      setTimeout(() => this.#giveUp.abort(new Error("the gateway was told to stop twice")), HURRY_MS).unref();
    }
    this.#stop.abort();
    await this.#working;
  }

  #recover(): void {
    const { file, clock, log } = this.#options;
    for (const job of runningJobs(file)) {
      const isOrphan =
        job.pid !== null && job.pidStarted !== null && endGroup({ pid: job.pid, started: job.pidStarted });
      const now = clock.now();
      const context = contextOf(file, job);
      const outcome = crashOutcome({ job, context, now, newId: file.newId }, this.catalog);
      this.#commit(job, outcome, NO_TRACE);
      log.warn(
        { job_id: job.id, plugin: job.plugin, orphan_ended: isOrphan },
        "found a job that was running",
      );
    }
  }

  async #work(): Promise<void> {
    const { file, clock } = this.#options;
    while (!this.isStopping) {
      const job = claim(file, clock.now());
      if (job === undefined) await this.#idle();
      else await this.#perform(job);
    }
  }

  async #idle(): Promise<void> {
    const { file, clock } = this.#options;
    const due = (nextRetryAt(file) ?? Number.POSITIVE_INFINITY) - clock.now();
    const awake = new AbortController();
    const forget = file.onChange(() => awake.abort());
    const signal = AbortSignal.any([awake.signal, this.#stop.signal]);
    await clock.sleep(Math.max(1, Math.min(due, IDLE_MS)), signal);
    forget();
  }

  async #tickAlways(): Promise<void> {
    const { setup, file, clock, log, random } = this.#options;
    const { service } = setup.config;
    const { attemptsMax } = this.catalog;
    while (!this.isStopping) {
      const now = clock.now();
      tick(file, setup.plugins.values(), { now, random, dedupeTtlMs: service.dedupeTtlMs, attemptsMax });
      for (const workspace of upkeep({ file, workspaces: this.#workspaces, service }, now))
        log.warn({ workspace }, "an old workspace cannot be removed");
      await clock.sleep(service.tickMs, this.#stop.signal);
    }
  }

  async #perform(job: Job): Promise<void> {
    const { setup, file, clock, random } = this.#options;
    const context = contextOf(file, job);
    const state = stateOf(file, job.plugin);
    const plugin = setup.plugins.get(job.plugin);
    const run = await this.#runPlugin(job, { plugin, context, state });
    if (run === undefined) return;
    const ended = { job, context, state, now: clock.now(), newId: file.newId, random };
    const backoffMs = plugin?.entry.backoffMs ?? 0;
    const outcome = outcomeOf({ ...ended, backoffMs }, run.verdict, this.catalog);
    this.#commit(job, outcome, run.trace);
    this.#tell(job, { run, outcome, context });
  }

  /** Undefined when the gateway gave up on it: the job stays running, for the next gateway. */
  async #runPlugin(
    job: Job,
    { plugin, context, state }: { plugin: InstalledPlugin | undefined; context: Context; state: string },
  ): Promise<JobRun | undefined> {
    const { setup, file, clock } = this.#options;
    const command = plugin?.entry.enabled === true ? plugin.manifest.commands.get(job.command) : undefined;
    if (plugin === undefined || command === undefined) return failedRun(unknownTarget(job, plugin));
    const timeoutMs = plugin.entry.timeoutsMs.get(job.command) ?? TIMEOUTS_MS.get(job.command) ?? TIMEOUT_MS;
    const deadlineAt = clock.now() + timeoutMs;
    const { config } = setup;
    const node = setup.pipelines.get(job.pipeline ?? "")?.nodes.get(job.stepId ?? "");
    const request = pluginRequest(job, {
      ...{ config: plugin.entry.config, state, context, deadlineAt, mode: config.context, node },
      workspace: this.#workspaces.folder(job.workspaceId),
    });
    if ("kind" in request) return failedRun(request);
    // What a process does depends on what it is told, so only that waits until what led to it is kept.
    const onStarted = async (pid: number): Promise<void> => {
      recordSpawn(file, job, { pid, pidStarted: startOf(pid), deadlineAt, at: clock.now() });
      await file.durable();
    };
    const { isStrict } = config.service;
    const { signal } = this.#giveUp;
    try {
      return await runJob({ plugin, request, timeoutMs, isStrict, signal, onStarted });
    } catch (error) {
      if (!signal.aborted) throw error;
      this.#options.log.warn({ job_id: job.id, plugin: job.plugin }, "left a job that did not end in time");
      return undefined;
    }
  }

  #commit(job: Job, outcome: Outcome, trace: Trace): void {
    const { setup, file, clock, log } = this.#options;
    const terms = { now: clock.now(), dedupeTtlMs: setup.config.service.dedupeTtlMs };
    if (!settle(file, job, { outcome, trace, terms }))
      log.warn({ job_id: job.id, attempt: job.attempt }, "somebody else took the job up");
  }

  #tell(job: Job, { run, outcome, context }: { run: JobRun; outcome: Outcome; context: Context }): void {
    const { log } = this.#options;
    const { verdict, trace } = run;
    const about = { job_id: job.id, plugin: job.plugin, command: job.command, attempt: job.attempt };
    const runId = get(get(context.body, "agentic"), "run_id");
    const of = { job_id: job.id, plugin: job.plugin, ...(runId !== undefined && { run_id: runId }) };
    for (const { level, message } of "logs" in verdict ? verdict.logs : []) log[levelOf(level)](of, message);
    const strange = run.unknownKeys.filter(() => !this.#strangeKeys.has(job.plugin));
    if (strange.length > 0) {
      this.#strangeKeys.add(job.plugin);
      log.warn({ ...of, keys: strange }, "the plugin's answer has keys that mean nothing");
    }
    if (outcome.kind === "succeeded") {
      if (trace.exitCode !== 0)
        log.warn({ ...about, exit_code: trace.exitCode }, "a plugin answered ok and left with a code");
      for (const drop of outcome.dropped) log.warn({ ...of, ...drop }, "an event was not routed");
      log.info(about, "job succeeded");
    } else if (outcome.kind === "again") log.warn({ ...about, code: outcome.code }, outcome.message);
    else log.error({ ...about, status: outcome.status, code: outcome.code }, outcome.message);
  }
}

const NO_TRACE: Trace = { exitCode: null, document: null, stderr: "" };

const failedRun = (verdict: JobFailure): JobRun => ({ verdict, trace: NO_TRACE, unknownKeys: [] });

function unknownTarget(job: Job, plugin: InstalledPlugin | undefined): JobFailure {
  const isThere = plugin?.entry.enabled === true;
  const message = isThere
    ? `plugin \`${job.plugin}\` has no command \`${job.command}\``
    : `plugin \`${job.plugin}\` is not installed, or not enabled`;
  return { kind: "failed", code: isThere ? "unknown-command" : "unknown-plugin", message, retry: false };
}

const levelOf = (level: string): keyof GatewayLog =>
  level === "debug" || level === "warn" || level === "error" ? level : "info";

function catalogOf({ config, pipelines, plugins }: GatewaySetup): Catalog {
  return {
    pipelines,
    mode: config.context,
    hasNoSelfTrigger: (name) => plugins.get(name)?.entry.noSelfTrigger ?? false,
    attemptsMax: (name, command) => {
      const plugin = plugins.get(name);
      if (plugin === undefined) return 1;
      return plugin.manifest.commands.get(command)?.retrySafe === false ? 1 : plugin.entry.attemptsMax;
    },
  };
}
