// Calls between runs: a call to an agent is a child run, whose end answers the call (S41–S43). The child's
// name is `RUN/STEP`, so starting it twice is starting it once.

import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { agentStart } from "../core/agent-start.ts";
import type { Ask, CallAsk, Limits, Outcome, Parent, Spent, TurnRow } from "../core/facts.ts";
import type { StartInput } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import { refusalText } from "../core/refusal-text.ts";
import { type Run, statusOf, treeUse } from "../core/run.ts";
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
  readonly failed: (id: string, error: unknown) => void;
}

export const childOf = (id: string, step: number | string): string => `${id}/${step}`;

export class Agents {
  readonly #door: Door;
  readonly #store: Store;
  readonly #clock: Clock;

  readonly #depth: number;
  readonly #failed: AgentOptions["failed"];
  /** What callers were told about their agents by this process. */
  readonly #told = new Map<string, "running" | "waiting">();
  #telling: Promise<void> = Promise.resolve();

  constructor(options: AgentOptions) {
    this.#door = options.door;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#depth = options.depth ?? DEPTH;
    this.#failed = options.failed;
  }

  /** Starts the child, or finds it started. Its end answers the call; an outcome is the answer already. */
  async start(call: AgentCall): Promise<Outcome | undefined> {
    const { id, step, run } = call;
    if (id.split("/").length > this.#depth) {
      const chain = (await this.#callsTo(call)).join(" → ");
      return failed("too_deep", `agents may call each other ${this.#depth} deep (${chain})`);
    }
    const program = await this.#door.program(run.digest);
    const setup = (await this.#store.record(id))?.setup ?? {};
    const { id: packId, version: packVersion } = program;
    const left = leftFor(program, run);
    if ("code" in left) return left;
    const input = startOf(program, call, { at: this.#clock.now(), left });
    const child = childOf(id, step);
    const create = { digest: run.digest, packId, packVersion, setup };
    const started = await this.#door.submit(child, input, { create });
    if (started.kind === "refused") return failed(started.refusal.code, refusalText(started.refusal));
    // The call may have been given up while its child was being started.
    const parent = await this.#door.load(id);
    if (parent?.open[step] === undefined) await this.stop(id, step);
    else if (parent.held !== undefined) await this.#holdWith(id, step);
    return undefined;
  }

  /** The agents that called each other down to this call, the first one first. */
  async #callsTo({ ask, run }: AgentCall): Promise<readonly string[]> {
    const tools = [ask.tool];
    for (let to = run.parent; to !== null; ) {
      const caller = await this.#door.load(to.run);
      const made = caller?.open[to.step]?.ask;
      if (caller === undefined || made?.kind !== "agent") break;
      tools.unshift(made.tool);
      to = caller.parent;
    }
    return tools;
  }

  /** Tells the caller how its agent ended and what it came to. A caller that waits no longer ignores it. */
  async reply(to: Parent, outcome: Outcome, run: Run): Promise<void> {
    const at = this.#clock.now();
    await this.#door.submit(to.run, { type: "answer", at, step: to.step, outcome, spent: treeUse(run) });
  }

  /**
   * Somebody up the tree has ended, or waits no longer: a process died before it could say so. A run whose
   * caller is not here, because it was taken alone from elsewhere, goes on.
   */
  async isForsaken(run: Run): Promise<boolean> {
    for (let to = run.final === null ? run.parent : null; to !== null; ) {
      const caller = await this.#door.load(to.run);
      if (caller === undefined) return false;
      if (caller.open[to.step] === undefined) return true;
      to = caller.parent;
    }
    return false;
  }

  /** S43: cancelling reaches the children; one that never started needs none. */
  async stop(id: string, step: number | string): Promise<void> {
    const reason = "its caller no longer waits for it";
    await this.#door.submit(childOf(id, step), { type: "cancel", at: this.#clock.now(), by: id, reason });
  }

  /**
   * An agent is held with its caller, and let go with it: a process may have died before it said so. True
   * when that was said now, and all else follows from it.
   */
  async followed(id: string, { parent, held, final }: Run): Promise<boolean> {
    if (parent === null || final !== null) return false;
    const [at, by] = [this.#clock.now(), parent.run];
    const isHeld = await this.#isHeldAbove(parent);
    if (isHeld && held === undefined) await this.#door.submit(id, { type: "pause", at, by });
    else if (!isHeld && held?.by === by) await this.#door.submit(id, { type: "unpause", at, by });
    else return false;
    return true;
  }

  async #isHeldAbove(parent: Parent): Promise<boolean> {
    for (let to: Parent | null = parent; to !== null; ) {
      const caller: Run | undefined = await this.#door.load(to.run);
      if (caller?.held !== undefined) return true;
      to = caller?.parent ?? null;
    }
    return false;
  }

  /** The caller may be let go by another process meanwhile, which found nothing to let go here. */
  async #holdWith(id: string, step: number | string): Promise<void> {
    const at = this.#clock.now();
    await this.#door.submit(childOf(id, step), { type: "pause", at, by: id });
    const caller = await this.#door.load(id);
    if (caller?.held === undefined)
      await this.#door.submit(childOf(id, step), { type: "unpause", at, by: id });
  }

  /** What its caller was told of an agent holds no longer. */
  forgetAgents(id: string, { open }: Run): void {
    for (const [step, { ask }] of Object.entries(open))
      if (ask.kind === "agent") this.forget(childOf(id, step));
  }

  /** S43: whoever called an agent that waits for a person waits with it; who is held holds its agents. */
  news(id: string, run: Run, row?: TurnRow): void {
    if (row?.facts.some((fact) => fact.type === "noted" && fact.what === "held") === true)
      for (const [step, { ask }] of Object.entries(run.open))
        if (ask.kind === "agent") this.#tells(id, this.#holdWith(id, step));
    const { parent } = run;
    if (parent === null || run.final !== null) return;
    const status = statusOf(run) === "waiting" ? "waiting" : "running";
    if (this.#told.get(id) === status) return;
    this.#told.set(id, status);
    this.#tells(id, this.#tell(parent, status));
  }

  #tells(id: string, telling: Promise<void>): void {
    const told = telling.catch((error: unknown) => this.#failed(id, error));
    this.#telling = Promise.all([this.#telling, told]).then(() => undefined);
  }

  forget(id: string): void {
    this.#told.delete(id);
  }

  /** Resolves when every caller has heard the news. */
  heard(): Promise<void> {
    return this.#telling;
  }

  /** A caller whose agent waits for somebody waits, too, and is seen to. */
  async #tell(parent: Parent, status: "running" | "waiting"): Promise<void> {
    const at = this.#clock.now();
    const { run, step } = parent;
    if (status === "waiting") await this.#door.submit(run, { type: "hold", at, step, hold: "deferred" });
    else await this.#door.submit(run, { type: "resume", at, step });
  }
}

type Failed = Extract<Outcome, { readonly ok: false }>;

const failed = (code: string, message: string): Failed => ({ ok: false, code, message });

function startOf(
  program: Program,
  { id, step, ask, run }: AgentCall,
  { at, left }: { readonly at: number; readonly left: Partial<Limits> },
): StartInput {
  const key = memberOf(program, ask.tool);
  const query = get(ask.args, "query");
  const variables = get(ask.args, "variables");
  const { visits, toolCalls } = run.limits;
  const wallMs = timeLeft(run, at);
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
    ...(agentStart(program, key) ?? { prompt: key }),
    // Its visits and calls are counted anew (S43), each up to what its caller may make.
    limits: { ...left, visits, toolCalls, wallMs },
  };
}

/** What is spent for the caller, whoever spends it (S13); by the names that packs have for it. */
const SPENDING: readonly (readonly [keyof Limits & keyof Spent, string])[] = [
  ["modelCalls", "max_model_calls"],
  ["inputTokens", "max_input_tokens"],
  ["outputTokens", "max_output_tokens"],
  ["costUsd", "max_cost_usd"],
];

/** What the caller has left, shared by the agents it waits for at once, so that all of them fit into it. */
function leftFor(program: Program, run: Run): Partial<Limits> | Failed {
  const used = treeUse(run);
  const agents = Math.max(1, Object.values(run.open).filter(({ ask }) => isAgentCall(program, ask)).length);
  const left: Partial<Record<keyof Limits, number>> = {};
  for (const [key, name] of SPENDING) {
    const limit = run.limits[key];
    if (limit === null) continue;
    const share = (limit - used[key]) / agents;
    left[key] = key === "costUsd" ? share : Math.floor(share);
    if (left[key] <= 0) return failed(name, `nothing of the caller's ${name} ${limit} is left for an agent`);
  }
  return left;
}

/** Also one that waits for approval: it will want its share. */
const isAgentCall = (program: Program, ask: Ask): boolean =>
  ask.kind === "agent" ||
  (ask.kind === "approval" && Object.hasOwn(program.agents?.members ?? {}, memberOf(program, ask.tool)));

/** A member by its key, or by the name the reference runtime gives it. */
function memberOf({ agents }: Program, tool: string): string {
  return Object.hasOwn(agents?.members ?? {}, tool) ? tool : tool.replace(/^a2a__/, "");
}

/** S43: never more than the caller has left. */
function timeLeft({ limits, wallClock, used, startedAt }: Run, at: number): number | null {
  if (limits.wallMs === null) return null;
  return Math.max(1, limits.wallMs - (wallClock === "active" ? used.activeMs : at - startedAt));
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));
