// The worlds of runs: for each run the model, tools and people it was started with, from what is kept with
// it. The command line and the server compose their engines with this.

import { readCassette } from "../adapter/cassette/cassette.ts";
import { recording } from "../adapter/cassette/recording.ts";
import { readScript, type Script } from "../adapter/script/read-script.ts";
import { scriptedEvent, scriptedModel, scriptedTools } from "../adapter/script/scripted.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import type { Outcome } from "../core/facts.ts";
import type { Input } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import type { Run } from "../core/run.ts";
import type { RunPorts } from "../engine/dispatcher.ts";
import type { Clock, Store } from "../engine/ports.ts";
import { Redaction } from "../engine/redaction.ts";
import { storeClock } from "../engine/store-clock.ts";
import { artifactCommit } from "./artifact-commit.ts";
import { type CallRisk, callRisk, type RiskOf } from "./call-risk.ts";
import { judgeClaim } from "./goal-claim.ts";
import { removeRunFiles, workRootOf, workspaceFolder } from "./run-files.ts";
import { noSettings, type RunSettings, settingsIn } from "./run-settings.ts";
import { secretNames } from "./secret-names.ts";
import { World } from "./world.ts";

export interface RunWorldsOptions {
  readonly clock: Clock;
  readonly env: (name: string) => string | undefined;
  /** The file or address of the store: runs without a workspace of their own work beside it. */
  readonly storePath: string;
  readonly warn: (line: string) => void;
  /** Wins over what runs remember. */
  readonly script?: Script;
  /** Settings to go on with in place of those a run remembers. */
  readonly adjust?: (remembered: RunSettings) => RunSettings;
}

/** What is kept with a run, as far as its world depends on it. */
export interface WorldSetup {
  readonly script?: JsonObject;
  readonly settings?: JsonObject;
  readonly record?: string;
  readonly replay?: string;
}

export class RunWorlds implements AsyncDisposable, RiskOf {
  readonly redaction = new Redaction();
  readonly #options: RunWorldsOptions;
  readonly #worlds = new Map<string, World>();
  readonly #ports = new Map<string, RunPorts>();
  readonly #scripts = new Map<string, Script | undefined>();
  /** By which tools say how long a call is put off: it must be the one that their runs are woken by. */
  readonly #clock: Clock;
  #timed: Clock | undefined;

  constructor(options: RunWorldsOptions) {
    this.#options = options;
    const { clock } = options;
    this.#clock = {
      now: () => (this.#timed ?? clock).now(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    };
  }

  /** The world of some settings; equal settings share one. */
  world(settings: RunSettings): World {
    const key = JSON.stringify(settings);
    let world = this.#worlds.get(key);
    if (world === undefined) {
      const { env, storePath } = this.#options;
      this.#learn(settings);
      const workRoot = workRootOf(storePath);
      world = new World(settings, {
        clock: this.#clock,
        env,
        warn: this.#warn,
        clean: this.#clean,
        workRoot,
      });
      this.#worlds.set(key, world);
    }
    return world;
  }

  /** From now on the secrets of a run are known, also where nothing is opened for it. */
  async learn(store: Store, id: string): Promise<void> {
    const settings = settingsIn((await store.record(id))?.setup ?? {});
    this.#learn(settings ?? noSettings("."));
  }

  async portsOf(store: Store, id: string): Promise<RunPorts> {
    this.#goBy(store);
    // Children work with what their caller works with; a cassette ends them all at the first difference.
    const root = id.split("/", 1)[0] ?? id;
    let ports = this.#ports.get(root);
    if (ports === undefined) {
      ports = this.#portsFor((await store.record(id))?.setup ?? {}, await this.#scriptOf(store, id));
      this.#ports.set(root, ports);
    }
    return ports;
  }

  /** What the script's people say to a run that waits, and what one hears that claims to be done. */
  async peopleOf(store: Store, id: string, run: Run): Promise<Input | undefined> {
    if (!Object.values(run.open).some(({ ask }) => ask.kind === "event")) return undefined;
    this.#goBy(store);
    const at = this.#clock.now();
    const setup = (await store.record(id))?.setup ?? {};
    const workRoot = workRootOf(this.#options.storePath);
    const settings = settingsIn(setup) ?? noSettings(".");
    const workspaceOf = (one: string) => workspaceFolder(settings, { workRoot, run: one });
    const judged = await judgeClaim(store, { id, run, setup, workspaceOf, at });
    if (judged !== undefined) return judged;
    const script = await this.#scriptOf(store, id);
    return script && scriptedEvent(script, run, at);
  }

  /** Machines that share a store go by its time, and so does what their tools journal. */
  #goBy({ shared }: Store): void {
    if (shared !== undefined) this.#timed ??= storeClock(this.#options.clock, shared);
  }

  /** What a call can do in the world of a run, from what is kept with the run. */
  riskOf(setup: JsonObject, call: { readonly program: Program; readonly tool: string }): CallRisk {
    const remembered = settingsIn(setup) ?? noSettings(".");
    const settings = this.#options.adjust?.(remembered) ?? remembered;
    const kept = setup["script"];
    const script =
      this.#options.script ?? (kept !== undefined && isObject(kept) ? readScript(kept).script : undefined);
    const isScripted = script !== undefined && Object.hasOwn(script.tools, call.tool);
    return callRisk({ ...call, bound: this.world(settings).bound(call.tool), isScripted });
  }

  /** A commit that an artifact of the run names, with what it changed; secrets are taken out of it. */
  async commitOf(
    store: Store,
    id: string,
    named: { readonly run: Run; readonly name: string },
  ): Promise<Outcome> {
    const setup = (await store.record(id))?.setup ?? {};
    const remembered = settingsIn(setup) ?? noSettings(".");
    const settings = this.#options.adjust?.(remembered) ?? remembered;
    this.#learn(settings);
    const { env, storePath } = this.#options;
    const now = this.#clock.now();
    const workRoot = workRootOf(storePath);
    const workspaceOf = (run: string): string => workspaceFolder(settings, { workRoot, run });
    return this.#clean(await artifactCommit(store, { id, ...named, workspaceOf, env, now }));
  }

  /** What runs that are removed leave beside the store. */
  removeFiles(runs: readonly string[]): Promise<void> {
    return removeRunFiles(this.#options.storePath, runs);
  }

  /** A run that has ended needs nothing any more; a server would otherwise keep something for every one. */
  forget(id: string): void {
    this.#scripts.delete(id);
    this.#ports.delete(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#worlds.values()].map((world) => world[Symbol.asyncDispose]()));
  }

  #learn(settings: RunSettings): void {
    const { env } = this.#options;
    for (const name of secretNames(settings, env)) this.redaction.add(name, env(name) ?? "");
  }

  readonly #clean = <T>(value: T): T => this.redaction.json(value);
  readonly #warn = (line: string): void => this.#options.warn(this.redaction.text(line));

  async #scriptOf(store: Store, id: string): Promise<Script | undefined> {
    if (this.#options.script !== undefined) return this.#options.script;
    if (!this.#scripts.has(id)) {
      const kept = (await store.record(id))?.setup["script"];
      this.#scripts.set(id, kept !== undefined && isObject(kept) ? readScript(kept).script : undefined);
    }
    return this.#scripts.get(id);
  }

  #portsFor(setup: JsonObject, script: Script | undefined): RunPorts {
    const { record, replay } = setup as WorldSetup;
    const remembered = settingsIn(setup) ?? noSettings(".");
    const settings = this.#options.adjust?.(remembered) ?? remembered;
    if (replay !== undefined) {
      // Secrets stay out of what a replay says, too.
      this.#learn(settings);
      return readCassette(replay, this.#clean);
    }
    const ports = this.#live(settings, script);
    return record === undefined ? ports : recording(ports, record, { clean: this.#clean, warn: this.#warn });
  }

  /** A script answers what it has entries for; everything else is real. */
  #live(settings: RunSettings, script: Script | undefined): RunPorts {
    const clock = this.#clock;
    const { model, tools } = this.world(settings);
    if (script === undefined) return { model, tools };
    return {
      model: isScripted(settings, script) ? scriptedModel(script, clock) : model,
      tools: scriptedTools(script, clock, tools),
    };
  }
}

/** A script without answers of a model stands in for tools and people where a model is bound. */
export function isScripted({ model, providers }: RunSettings, script: Script | undefined): boolean {
  if (script === undefined) return false;
  const answers = Object.keys(script.states).length + Object.keys(script.prompts).length;
  return answers > 0 || (model === null && Object.keys(providers).length === 0);
}
