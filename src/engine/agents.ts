// Calls between runs: a call to an agent is a child run, whose end answers the call (S41–S43). The child's
// name is `RUN/STEP`, so starting it twice is starting it once.

import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { agentStart } from "../core/agent-start.ts";
import type { CallAsk, Grant, Outcome, Parent, TurnRow } from "../core/facts.ts";
import { grantFor, SPENDING } from "../core/grant.ts";
import type { StartInput } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import { refusalText } from "../core/refusal-text.ts";
import { type Run, statusOf, treeUse } from "../core/run.ts";
import type { Door } from "./door.ts";
import type { Clock, RunCreation, Store } from "./ports.ts";

/** Agents of agents of agents: deeper calls get an error (S43). */
const DEPTH = 8;

const FORSAKEN = "its caller no longer waits for it";

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
    const { id, step } = call;
    if (id.split("/").length > this.#depth) {
      const chain = (await this.#callsTo(call)).join(" → ");
      return failed("too_deep", `agents may call each other ${this.#depth} deep (${chain})`);
    }
    const problem = (await this.#door.load(childOf(id, step))) === undefined && (await this.#begin(call));
    if (problem) return problem;
    // The call may have been given up while its child was being started.
    const parent = await this.#door.load(id);
    if (parent?.open[step] === undefined) await this.stop(id, step);
    else if (parent.held !== undefined) await this.#holdWith(id, step);
    return undefined;
  }

  /** Only once: a child that is at work is not judged by what its caller has left now. */
  async #begin(call: AgentCall): Promise<Failed | undefined> {
    const { id, step, run } = call;
    const grant = grantFor(run, step);
    const spent = SPENDING.find(([key]) => grant[key] === 0);
    if (spent !== undefined) return nothingLeft(run, spent);
    const { input, create } = await this.#started(call, grant);
    const started = await this.#door.submit(childOf(id, step), input, { create });
    if (started.kind !== "refused") return undefined;
    return failed(started.refusal.code, refusalText(started.refusal));
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

  /**
   * Tells the caller how its agent ended and what it came to. One that waits no longer hears only what was
   * spent for it.
   */
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
    const cancel = { type: "cancel", at: this.#clock.now(), by: id, reason: FORSAKEN } as const;
    await this.#door.submit(childOf(id, step), cancel);
  }

  /**
   * The agent as it is when it has been stopped. Where spending is limited, one that never started is made to
   * have ended: another process may be about to start it, and nobody would count what it spends.
   */
  async stopped(id: string, step: string): Promise<Run | undefined> {
    await this.stop(id, step);
    const child = await this.#door.latest(childOf(id, step));
    const run = child === undefined ? await this.#door.load(id) : undefined;
    const called = run?.agentCalls?.find((call) => call.step === Number(step));
    if (run === undefined || called === undefined || SPENDING.every(([key]) => run.limits[key] === null))
      return child;
    const ask: CallAsk = { kind: "agent", call: "", tool: called.agent, args: {}, nth: 0 };
    const { input, create } = await this.#started({ id, step: called.step, ask, run }, {});
    const cancelled = { by: id, reason: FORSAKEN };
    await this.#door.submit(childOf(id, step), { ...input, cancelled }, { create });
    return this.#door.latest(childOf(id, step));
  }

  async #started(call: AgentCall, grant: Grant): Promise<{ input: StartInput; create: RunCreation }> {
    const { digest } = call.run;
    const program = await this.#door.program(digest);
    const setup = (await this.#store.record(call.id))?.setup ?? {};
    const input = startOf(program, call, { at: this.#clock.now(), grant });
    return { input, create: { digest, packId: program.id, packVersion: program.version, setup } };
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
  { at, grant }: { readonly at: number; readonly grant: Grant },
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
    limits: { ...grant, visits, toolCalls, wallMs },
  };
}

function nothingLeft({ limits }: Run, [key, name]: (typeof SPENDING)[number]): Failed {
  return failed(name, `nothing of the caller's ${name} ${limits[key]} is left for an agent`);
}

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
