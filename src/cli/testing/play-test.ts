// Plays one test: a run of its own in memory, with a folder of its own, until it ends or nobody has anything
// more to say to it.

import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCassette } from "../../adapter/cassette/cassette.ts";
import { scriptedEvent, scriptedModel, scriptedTools } from "../../adapter/script/scripted.ts";
import { must } from "../../base/assert.ts";
import { refusalText } from "../../core/refusal-text.ts";
import type { Run } from "../../core/run.ts";
import { whereToStart } from "../../core/start.ts";
import { resolveVariables } from "../../core/variables.ts";
import { defaultRetry } from "../../engine/backoff.ts";
import type { RunPorts } from "../../engine/dispatcher.ts";
import { Engine } from "../../engine/engine.ts";
import type { Clock } from "../../engine/ports.ts";
import { newRunId } from "../../engine/run-id.ts";
import { systemClock } from "../../engine/system-clock.ts";
import type { RunSettings } from "../../host/run-settings.ts";
import { RunWorlds } from "../../host/run-worlds.ts";
import { secretNames } from "../../host/secret-names.ts";
import type { StartTerms } from "../../host/start-terms.ts";
import { memoryStore } from "../../store/memory.ts";
import type { LoadedPack } from "../load-pack.ts";
import { runConfigFor, startTerms } from "../runs/start-terms.ts";
import { mockModel, type TakenEntry } from "./mock-file.ts";
import { type Observed, observe } from "./observed.ts";
import type { PackTest } from "./pack-test.ts";
import { actText, inputOf, waitsFor } from "./people.ts";

export interface Played {
  readonly observed?: Observed;
  /** What kept the test from being played to its end. */
  readonly trouble: readonly string[];
  /** The last turn of the journal when each of the user's turns was over. */
  readonly ends: readonly number[];
  /** Which entries of a mock file were used. */
  readonly taken: readonly TakenEntry[];
  readonly remarks: readonly string[];
}

/** A scripted provider's failures are not waited out. */
const RETRY = { ...defaultRetry, firstMs: 1, mostMs: 1 };

export async function playTest(test: PackTest, pack: LoadedPack): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), "packloop-test-"));
  try {
    return await new Player(test, pack, folder).play();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

class Player {
  readonly #test: PackTest;
  readonly #pack: LoadedPack;
  readonly #folder: string;
  /** Of its own: tools remember what a run did by its name. */
  readonly #id = newRunId(Date.now());
  readonly #clock: Clock = systemClock();
  readonly #trouble: string[] = [];
  readonly #ends: number[] = [];
  readonly #taken: TakenEntry[] = [];
  readonly #remarks: string[] = [];

  constructor(test: PackTest, pack: LoadedPack, folder: string) {
    this.#test = test;
    this.#pack = pack;
    this.#folder = folder;
  }

  async play(): Promise<Played> {
    const settings = await this.#settings();
    const worlds = new RunWorlds({
      clock: this.#clock,
      env: (name) => process.env[name],
      storePath: join(this.#folder, "runs.db"),
      warn: (line) => this.#remarks.push(line),
    });
    const store = memoryStore();
    await using engine = new Engine({
      store,
      clock: this.#clock,
      retry: RETRY,
      redaction: worlds.redaction,
      closing: worlds,
      portsOf: () => Promise.resolve(ports),
    });
    const terms = await this.#terms(worlds, settings);
    const ports = this.#ports(worlds, settings.settings);
    const refused = await this.#start(engine, terms);
    if (refused !== undefined) return this.#played({ trouble: [refused] });
    await this.#talk(engine);
    const run = must(await engine.load(this.#id), "a run that was started exists");
    const rows = await store.rows(this.#id, { from: 1, to: run.turn, limit: run.turn });
    return this.#played({ observed: observe(this.#pack.program, run, rows), trouble: this.#trouble });
  }

  #played(end: Pick<Played, "observed" | "trouble">): Played {
    return { ...end, ends: this.#ends, taken: this.#taken, remarks: this.#remarks };
  }

  /** Those of the pack, but for the model, which is always played, and the workspace, which is the test's. */
  async #settings(): Promise<ReturnType<typeof runConfigFor>> {
    const { pack, config, workspace: copied } = this.#test;
    const read = runConfigFor(pack, config === undefined ? {} : { config });
    const workspace = join(this.#folder, "workspace");
    if (copied === undefined) await mkdir(workspace);
    else await cp(copied, workspace, { recursive: true });
    const approvals = [...read.settings.approvals, ...this.#test.approvals];
    // Its keys stay secret though no model is asked.
    const secrets = secretNames(read.settings, (name) => process.env[name]);
    const settings = { ...read.settings, model: null, providers: {}, workspace, approvals, secrets };
    return { ...read, settings };
  }

  #terms(worlds: RunWorlds, config: ReturnType<typeof runConfigFor>): Promise<StartTerms> {
    const { model, script, limits } = this.#test;
    return startTerms(worlds, {
      program: this.#pack.program,
      config,
      script,
      limits,
      flags: model.kind === "cassette" ? { replay: model.file } : {},
      warn: (line) => this.#remarks.push(line),
    });
  }

  #ports(worlds: RunWorlds, settings: RunSettings): RunPorts {
    const { model, script } = this.#test;
    if (model.kind === "cassette") return readCassette(model.file, (value) => worlds.redaction.json(value));
    return {
      model:
        model.kind === "mock" ? mockModel(model.scenario, this.#taken) : scriptedModel(script, this.#clock),
      tools: scriptedTools(script, this.#clock, worlds.world(settings).tools),
    };
  }

  /** Why the run may not start. */
  async #start(engine: Engine, terms: StartTerms): Promise<string | undefined> {
    const { input, mode, turns, variables: values } = this.#test;
    const { program, digest, text } = this.#pack;
    const chosen = this.#prompt();
    const where = whereToStart(program, chosen);
    if ("code" in where) return refusalText(where);
    const bound = (source: string, field: string) => (source === "env" ? process.env[field] : undefined);
    const { values: variables } = resolveVariables(program, where, { values, bound });
    const said = turns[0]?.text ?? input;
    const started = await engine.start({
      id: this.#id,
      program,
      digest,
      source: text,
      setup: {},
      input: { mode, variables, input: said, ...terms.input, ...chosen },
    });
    return started.kind === "refused" ? refusalText(started.refusal) : undefined;
  }

  /** A workflow begins where it begins; only a pack without one has a prompt to choose. */
  #prompt(): { readonly prompt?: string } {
    const { prompt, turns } = this.#test;
    if (prompt === undefined || (turns.length > 0 && this.#pack.program.workflow !== null)) return {};
    return { prompt };
  }

  async #talk(engine: Engine): Promise<void> {
    const { people, turns } = this.#test;
    const deadline = this.#clock.now() + this.#test.timeoutMs;
    let acted = 0;
    for (;;) {
      const run = await this.#settled(engine, deadline);
      if (run === undefined) return;
      const act = people[acted];
      const now = this.#clock.now();
      const input = run.final === null && act !== undefined ? inputOf(act, run, now) : undefined;
      if (input !== undefined) acted++;
      const next = input ?? this.#event(run, now) ?? this.#nextTurn(run, now);
      if (next === undefined) break;
      const submitted = await engine.submit(this.#id, next);
      if (submitted.kind !== "refused") continue;
      const what =
        input !== undefined && act !== undefined ? actText(act) : `what is sent in \`${run.state}\``;
      this.#trouble.push(`${what} was refused: ${refusalText(submitted.refusal)}`);
      return;
    }
    const left = people.slice(acted).map(actText);
    if (left.length > 0) this.#trouble.push(`the run never waited for people to ${left.join(", ")}`);
    if (this.#ends.length < turns.length)
      this.#trouble.push(`turn ${this.#ends.length + 1} of the user was never said`);
  }

  #event(run: Run, at: number): ReturnType<typeof scriptedEvent> {
    if (run.final !== null || !waitsFor(run, "event")) return undefined;
    return scriptedEvent(this.#test.script, run, at);
  }

  /** The turn before is over once nobody else has anything to say. */
  #nextTurn(run: Run, at: number): ReturnType<typeof inputOf> {
    const { turns } = this.#test;
    if (this.#ends.length < turns.length) this.#ends.push(run.turn);
    const next = turns[this.#ends.length];
    if (next === undefined || run.final !== null) return undefined;
    const input = inputOf({ do: "say", text: next.text, by: "user" }, run, at);
    return input;
  }

  /** Undefined when it did not settle in time, or not at all. */
  async #settled(engine: Engine, deadline: number): Promise<Run | undefined> {
    const done = new AbortController();
    const late = this.#clock.sleep(Math.max(0, deadline - this.#clock.now()), done.signal);
    try {
      const run = await Promise.race([engine.settled(this.#id), late.then(() => undefined)]);
      if (run === undefined) this.#trouble.push(`it was not over after ${this.#test.timeoutMs / 1000} s`);
      return run;
    } finally {
      done.abort();
    }
  }
}
