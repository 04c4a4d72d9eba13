// What is measured: a loop of two states through the real engine. Every visit is one call of a model in this
// process, which writes one artifact of 100 bytes and moves on; every step is one turn, stored.

import type { ModelReply } from "../src/core/facts.ts";
import { Engine, type EngineOptions } from "../src/engine/engine.ts";
import type { EngineObserver } from "../src/engine/observer.ts";
import type { CallContext, ModelPort, Store, ToolPort } from "../src/engine/ports.ts";
import { systemClock } from "../src/engine/system-clock.ts";
import { openPack } from "../src/pack/open-pack.ts";

export type WriteMode = "replace" | "append";

const loopPack = (mode: WriteMode) => `id: loop
name: Loop
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  writer: { id: writer, name: Writer, version: 1.0.0, system_template: "Write about {{topic}}.",
    variables: [{ name: topic, type: string, required: false, default: benchmarks }] }
  checker: { id: checker, name: Checker, version: 1.0.0, system_template: "Check what it says about {{topic}}.",
    variables: [{ name: topic, type: string, required: false, default: benchmarks }] }
workflow:
  version: 2
  entry: write
  states:
    write:
      prompt_task: writer
      on_event: { Written: check }
      artifacts: { notes: { type: text/plain, mode: ${mode} } }
    check: { prompt_task: checker, on_event: { Checked: write } }
`;

const noTools: ToolPort = {
  knows: () => false,
  isSafe: () => true,
  call: () => Promise.reject(new Error("the loop calls no tool")),
};

/** Answers at once, as long as it is allowed to; then the call hangs until more steps are. */
export class LoopModel implements ModelPort {
  readonly #deltas: number;
  readonly #left = new Map<string, number>();
  readonly #held = new Map<string, () => void>();
  readonly #caught = new Map<string, () => void>();

  /** `deltas`: so many pieces of text are streamed before each answer. */
  constructor(deltas = 0) {
    this.#deltas = deltas;
  }

  async call(_request: unknown, context: CallContext): Promise<ModelReply> {
    const left = this.#left.get(context.run) ?? 0;
    if (left === 0) await this.#hold(context.run, context.signal);
    this.#left.set(context.run, (this.#left.get(context.run) ?? 0) - 1);
    if (this.#deltas > 0) stream(context, this.#deltas);
    return replyTo(context);
  }

  /** Lets the run make so many steps; resolves when they are stored and the next call hangs. */
  steps(run: string, count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#left.set(run, count);
      this.#caught.set(run, resolve);
      const release = this.#held.get(run);
      this.#held.delete(run);
      release?.();
    });
  }

  #hold(run: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve());
      this.#held.set(run, resolve);
      const caught = this.#caught.get(run);
      this.#caught.delete(run);
      caught?.();
    });
  }
}

function stream(context: CallContext, deltas: number): void {
  for (let i = 0; i < deltas; i++) context.delta?.("a few words ");
}

function replyTo({ step, state }: CallContext): ModelReply {
  const event = state === "write" ? "Written" : "Checked";
  return {
    text: "Done.",
    calls: [
      { id: "c1", tool: "workflow__set_artifact", args: { name: "notes", value: noteOf(step) } },
      { id: "c2", tool: "workflow__transition", args: { event } },
    ],
    usage: { inputTokens: 1_200 + (step % 7), outputTokens: 85, costUsd: 0.0021 },
  };
}

const WORDS = "parser accepts empty lists now two tests were added for nested quotes one tabs and none".split(
  " ",
);

/** 100 bytes that say something else each time. */
export function noteOf(turn: number): string {
  let note = `note ${turn}:`;
  for (let i = 1; note.length < 100; i++)
    note += ` ${WORDS[(turn * 7 + i * i * 3 + turn * i) % WORDS.length]}`;
  return note.slice(0, 100);
}

export interface LoopEngine extends AsyncDisposable {
  readonly engine: Engine;
  /** Runs so many steps of a run, which is started when it is new. */
  steps(run: string, count: number): Promise<void>;
  /** How many pieces of text were streamed so far. */
  deltas(): number;
}

export function loopEngine(
  store: Store,
  mode: WriteMode,
  model = new LoopModel(),
  observer?: EngineObserver,
): LoopEngine {
  const opened = openPack(loopPack(mode));
  if (!opened.ok) throw opened.toError();
  const { program, digest } = opened;
  let deltas = 0;
  const engine = engineOn(store, model, { onDelta: () => deltas++, observer });
  const started = new Set<string>();
  const start = async (id: string) => {
    started.add(id);
    const input = { mode: "autonomous", variables: {}, input: "go" } as const;
    const made = await engine.start({ id, program, digest, source: "", setup: {}, input });
    if (made.kind !== "done") throw new Error(`the loop was not started: ${JSON.stringify(made)}`);
  };
  return {
    engine,
    deltas: () => deltas,
    async steps(run, count) {
      const done = model.steps(run, count);
      if (!started.has(run)) await start(run);
      await done;
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}

/** Drives loops of a shared store without end. */
export function loopWorker(store: Store, options: Pick<EngineOptions, "takes" | "onTurn">): Engine {
  const model: ModelPort = { call: async (_request, context) => replyTo(context) };
  return engineOn(store, model, options);
}

/** Begins loops that others drive. */
export async function beginLoops(store: Store, ids: readonly string[]): Promise<void> {
  const opened = openPack(loopPack("replace"));
  if (!opened.ok) throw opened.toError();
  const { program, digest } = opened;
  const engine = engineOn(store, new LoopModel(), { idle: true });
  const input = { mode: "autonomous", variables: {}, input: "go" } as const;
  for (const id of ids) await engine.start({ id, program, digest, source: "", setup: {}, input });
}

/** For a loop that another process began. */
export const resumedLoop = (store: Store, model: LoopModel, onTurn: () => void): Engine =>
  engineOn(store, model, { onTurn });

function engineOn(
  store: Store,
  model: ModelPort,
  hooks: Pick<EngineOptions, "onTurn" | "onDelta" | "observer" | "takes" | "idle">,
): Engine {
  const ports = Promise.resolve({ model, tools: noTools });
  return new Engine({ store, clock: systemClock(), portsOf: () => ports, ...hooks });
}
