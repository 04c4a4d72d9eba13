// `createEngine`: the engine for programs that embed packloop. A store, a model and tools go in; runs come
// out as handles.

import { noTools } from "../adapter/script/scripted.ts";
import { type BoundTool, toolPort } from "../adapter/tool/bound-tool.ts";
import { type FunctionTool, functionTools } from "../adapter/tool/function-tools.ts";
import { must } from "../base/assert.ts";
import type { JsonObject } from "../base/json.ts";
import { agentKeys, agentStart } from "../core/agent-start.ts";
import type { HostTool, HostTools, Limits, Mode } from "../core/facts.ts";
import type { StartInput } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import type { RetryPolicy } from "../engine/backoff.ts";
import { Engine } from "../engine/engine.ts";
import type { ForkRequest } from "../engine/fork.ts";
import type { Delta, Store } from "../engine/ports.ts";
import { Redaction } from "../engine/redaction.ts";
import { newRunId } from "../engine/run-id.ts";
import { systemClock } from "../engine/system-clock.ts";
import { digestOf } from "../pack/link.ts";
import { memoryStore } from "../store/memory.ts";
import { telemetryFromEnv } from "../telemetry/telemetry.ts";
import { type AnyModel, modelPortOf } from "./any-model.ts";
import { Refused } from "./refused.ts";
import { RunHandle } from "./run-handle.ts";

export interface EngineOptions {
  /** Where runs are kept; in memory when there is none, and then nothing outlives the process. */
  readonly store?: Store | Promise<Store>;
  /** One model for everything, or one for each key of the pack's `requires.providers` and `default`. */
  readonly model: AnyModel | Readonly<Record<string, AnyModel>>;
  readonly tools?: Readonly<Record<string, FunctionTool>>;
  /** Tools whose calls a person must approve, beyond what packs demand (S31). */
  readonly approvals?: readonly string[];
  readonly retry?: RetryPolicy;
  /**
   * Values that must not be kept or shown, by the name they are shown as. Credentials are known by their
   * form.
   */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Streamed text of a model's answer, as it comes. */
  readonly onDelta?: (delta: Delta) => void;
}

export interface StartOptions {
  readonly variables?: JsonObject;
  /** The task, given to the first state and to every fresh conversation. */
  readonly input?: string;
  readonly mode?: Mode;
  readonly prompt?: string;
  /** Runs one agent of the pack: its part of the workflow, or its prompt. */
  readonly agent?: string;
  /** Tighter than the pack's. */
  readonly limits?: Partial<Limits>;
  readonly id?: string;
  /** The same key finds the same run and goes on with it. */
  readonly idempotencyKey?: string;
  /** The pack's text, kept with the run for people who look at it. */
  readonly source?: string;
}

export interface ForkOptions extends Partial<Omit<ForkRequest, "from" | "setup" | "pack">> {
  readonly pack?: { readonly program: Program; readonly source?: string };
}

export async function createEngine(options: EngineOptions): Promise<LoopEngine> {
  const store = await (options.store ?? memoryStore());
  return new LoopEngine(store, options);
}

export class LoopEngine implements AsyncDisposable {
  readonly #engine: Engine;
  readonly #tools: ReadonlyMap<string, BoundTool>;
  readonly #approvals: readonly string[];

  constructor(store: Store, { model, tools, approvals, secrets, retry, onDelta }: EngineOptions) {
    this.#tools = functionTools(tools ?? {});
    this.#approvals = approvals ?? [];
    const ports = { model: modelPortOf(model), tools: toolPort(this.#tools, noTools) };
    const redaction = new Redaction();
    for (const [name, value] of Object.entries(secrets ?? {})) redaction.add(name, value);
    this.#engine = new Engine({
      store,
      redaction,
      clock: systemClock(),
      portsOf: () => Promise.resolve(ports),
      observer: telemetryFromEnv(redaction),
      ...(retry !== undefined && { retry }),
      ...(onDelta !== undefined && { onDelta }),
    });
  }

  /** Throws `Refused` when the run cannot start; then nothing is started. */
  async start(program: Program, options: StartOptions = {}): Promise<RunHandle> {
    const { variables, input, mode, limits, idempotencyKey, source } = options;
    const place = placeOf(program, options);
    const known = idempotencyKey === undefined ? undefined : await this.#engine.store.find(idempotencyKey);
    if (known !== undefined) return this.resume(known);
    const id = options.id ?? newRunId(Date.now());
    const started = await this.#engine.start({
      id,
      program,
      digest: digestOf(program),
      source: source ?? "",
      setup: {},
      ...(idempotencyKey !== undefined && { key: idempotencyKey }),
      input: {
        mode: mode ?? "autonomous",
        variables: variables ?? {},
        input: input ?? "",
        gated: this.#approvals,
        ...hostToolsOf(this.#tools),
        ...place,
        ...(limits !== undefined && { limits }),
      },
    });
    if (started.kind === "refused") throw new Refused(started.refusal);
    return this.run(id);
  }

  /** A run to look at and to talk to. What it left open when its process ended waits for `resume`. */
  run(id: string): RunHandle {
    return new RunHandle(this.#engine, id);
  }

  /** Takes up a run that another process left. */
  async resume(id: string): Promise<RunHandle> {
    const run = await this.#engine.resume(id);
    if (run === undefined) throw new Refused({ code: "unknown-run", run: id });
    return this.run(id);
  }

  /** Takes up every run with work, at most `limit`; their handles. */
  async resumeAll(limit = 1_000): Promise<readonly RunHandle[]> {
    const ids = await this.#engine.store.runnable(Date.now(), limit);
    const handles: RunHandle[] = [];
    for (const id of ids) handles.push(await this.resume(id));
    return handles;
  }

  /** A new run that shares the first `turn` turns of another and goes on from there (S52). */
  async fork(run: string, turn: number, options: ForkOptions = {}): Promise<RunHandle> {
    const { pack, id = newRunId(Date.now()), resetBudget = false, ...edits } = options;
    const record = await this.#engine.store.record(run);
    if (record === undefined) throw new Refused({ code: "unknown-run", run });
    const other = pack && {
      program: pack.program,
      digest: digestOf(pack.program),
      source: pack.source ?? "",
    };
    const made = await this.#engine.fork({
      ...edits,
      id,
      resetBudget,
      from: { run, turn },
      setup: record.setup,
      ...(other !== undefined && { pack: other }),
    });
    if (made.kind === "refused") throw new Refused(made.refusal);
    return this.run(id);
  }

  /** Lets running tools finish within the grace, leaves the rest open, closes the store. */
  async close(graceMs = 10_000): Promise<void> {
    await this.#engine.pause(graceMs);
    await this.#engine[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function placeOf(program: Program, { prompt, agent }: StartOptions): Pick<StartInput, "prompt" | "state"> {
  if (agent === undefined) return prompt === undefined ? {} : { prompt };
  const place = agentStart(program, agent);
  if (place === undefined) throw new Refused({ code: "unknown-agent", agent, known: agentKeys(program) });
  return place;
}

/** Tools that say what they take can be listed by a pack that does not define them. */
function hostToolsOf(tools: ReadonlyMap<string, BoundTool>): { readonly host?: HostTools } {
  const defined = [...tools].filter(([, tool]) => tool.definition !== undefined);
  if (defined.length === 0) return {};
  const host = defined.map(([name, { definition }]): readonly [string, HostTool] => {
    return [name, must(definition, "a defined tool has a definition")];
  });
  return { host: Object.fromEntries(host) };
}
