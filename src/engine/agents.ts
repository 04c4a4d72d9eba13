// Calls between runs: a call to an agent is a child run, whose end answers the call (S41–S43). The child's
// name is `RUN/STEP`, so starting it twice is starting it once.

import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import type { CallAsk, Outcome, Parent } from "../core/facts.ts";
import type { StartInput } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import { refusalText } from "../core/refusal-text.ts";
import type { Run } from "../core/run.ts";
import type { Door } from "./door.ts";
import type { Clock, Store } from "./ports.ts";

/** Agents of agents of agents: deeper calls get an error (S43). */
const DEPTH = 8;

export interface AgentCall {
  readonly id: string;
  readonly step: number;
  readonly ask: CallAsk;
  readonly run: Run;
}

export interface AgentOptions {
  readonly door: Door;
  readonly store: Store;
  readonly clock: Clock;
  readonly depth?: number;
}

export const childOf = (id: string, step: number | string): string => `${id}/${step}`;

export class Agents {
  readonly #door: Door;
  readonly #store: Store;
  readonly #clock: Clock;

  readonly #depth: number;

  constructor(options: AgentOptions) {
    this.#door = options.door;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#depth = options.depth ?? DEPTH;
  }

  /** Starts the child, or finds it started. Its end answers the call; an outcome is the answer already. */
  async start(call: AgentCall): Promise<Outcome | undefined> {
    const { id, step, run } = call;
    if (id.split("/").length > this.#depth) {
      return failed("too_deep", `agents may call each other ${this.#depth} deep, which \`${id}\` is already`);
    }
    const program = await this.#door.program(run.digest);
    const setup = (await this.#store.record(id))?.setup ?? {};
    const { id: packId, version: packVersion } = program;
    const input = startOf(program, call, this.#clock.now());
    const child = childOf(id, step);
    const create = { digest: run.digest, packId, packVersion, setup };
    const started = await this.#door.submit(child, input, { create });
    if (started.kind === "refused") return failed(started.refusal.code, refusalText(started.refusal));
    // The call may have been given up while its child was being started.
    const parent = await this.#door.load(id);
    if (parent?.open[step] === undefined) await this.stop(id, step);
    return undefined;
  }

  /** Tells the caller how its agent ended. A caller that waits no longer ignores it. */
  async reply(to: Parent, outcome: Outcome): Promise<void> {
    await this.#door.submit(to.run, { type: "answer", at: this.#clock.now(), step: to.step, outcome });
  }

  /** S43: cancelling reaches the children; one that never started needs none. */
  async stop(id: string, step: number | string): Promise<void> {
    const reason = "its caller no longer waits for it";
    await this.#door.submit(childOf(id, step), { type: "cancel", at: this.#clock.now(), by: id, reason });
  }

  /** A caller whose agent waits for somebody waits, too, and is seen to. */
  async tell(parent: Parent, status: "running" | "waiting"): Promise<void> {
    const at = this.#clock.now();
    const { run, step } = parent;
    if (status === "waiting") await this.#door.submit(run, { type: "hold", at, step, hold: "deferred" });
    else await this.#door.submit(run, { type: "resume", at, step });
  }
}

const failed = (code: string, message: string): Outcome => ({ ok: false, code, message });

function startOf(program: Program, { id, step, ask, run }: AgentCall, at: number): StartInput {
  const key = memberOf(program, ask.tool);
  const state = program.agents?.members[key]?.state ?? null;
  const query = get(ask.args, "query");
  const variables = get(ask.args, "variables");
  const left = timeLeft(run, at);
  return {
    type: "start",
    at,
    digest: run.digest,
    mode: "autonomous",
    // What the caller does not give, the agent has from the run it works for.
    variables: { ...run.variables, ...(isObject(variables ?? null) && (variables as JsonObject)) },
    input: typeof query === "string" ? query : textOf(query ?? ask.args),
    parent: { run: id, step },
    gated: run.gated,
    ...(run.host !== undefined && { host: run.host }),
    ...(state === null ? { prompt: key } : { state }),
    ...(left !== undefined && { limits: { wallMs: left } }),
  };
}

/** A member by its key, or by the name the reference runtime gives it. */
function memberOf({ agents }: Program, tool: string): string {
  return Object.hasOwn(agents?.members ?? {}, tool) ? tool : tool.replace(/^a2a__/, "");
}

/** S43: never more than the caller has left. */
function timeLeft({ limits, wallClock, used, startedAt }: Run, at: number): number | undefined {
  if (limits.wallMs === null) return undefined;
  return Math.max(1, limits.wallMs - (wallClock === "active" ? used.activeMs : at - startedAt));
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));
