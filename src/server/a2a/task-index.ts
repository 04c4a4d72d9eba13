// Which tasks each agent has and when they last moved. The store lists runs by when they began; this is made
// from it when tasks are first listed, and follows it from then on. Nothing is in it that the store has not.

import type { Status } from "../../core/facts.ts";
import type { RunRecord } from "../../engine/ports.ts";
import { eachRecord } from "../../host/stored-runs.ts";
import type { ServerParts } from "../server-parts.ts";
import { taskSetup } from "./task-view.ts";

export interface TaskEntry {
  readonly run: string;
  readonly at: number;
  readonly context: string;
  readonly status: Status;
}

/** Runs that may have moved since tasks were last listed; with more of them it is made anew. */
const MOVED_MAX = 10_000;

interface AgentTasks {
  readonly byRun: Map<string, TaskEntry>;
  /** Undefined when something has moved. */
  sorted: readonly TaskEntry[] | undefined;
}

export class TaskIndex {
  readonly #parts: ServerParts;
  readonly #byAgent = new Map<string, AgentTasks>();
  readonly #moved = new Set<string>();
  #made: Promise<void> | undefined;

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  turn(run: string): void {
    if (this.#made === undefined) return;
    this.#moved.add(run);
    if (this.#moved.size <= MOVED_MAX) return;
    this.#made = undefined;
    this.#moved.clear();
  }

  /** The one that moved last first. */
  async tasksOf(agent: string): Promise<readonly TaskEntry[]> {
    this.#made ??= this.#make();
    await this.#made;
    for (const run of this.#moved) {
      this.#moved.delete(run);
      const record = await this.#parts.store.record(run);
      if (record !== undefined) this.#place(record);
    }
    const tasks = this.#byAgent.get(agent);
    if (tasks === undefined) return [];
    tasks.sorted ??= [...tasks.byRun.values()].sort((one, other) => isLater(other, one));
    return tasks.sorted;
  }

  /** The run was removed. */
  drop(agent: string, run: string): void {
    const tasks = this.#byAgent.get(agent);
    if (tasks?.byRun.delete(run) === true) tasks.sorted = undefined;
  }

  async #make(): Promise<void> {
    const { store, log } = this.#parts;
    this.#byAgent.clear();
    try {
      for await (const record of eachRecord(store, {}, (run) => log.error({ run }, "a run is damaged")))
        this.#place(record);
    } catch (error) {
      this.#made = undefined;
      throw error;
    }
  }

  #place(record: RunRecord): void {
    const setup = taskSetup(record);
    if (setup === undefined) return;
    const tasks = this.#byAgent.get(setup.agent) ?? { byRun: new Map(), sorted: undefined };
    const { run, updatedAt: at, status } = record;
    tasks.byRun.set(run, { run, at, context: setup.context, status });
    tasks.sorted = undefined;
    this.#byAgent.set(setup.agent, tasks);
  }
}

/** By time, and by name where times are the same. */
export function isLater(one: Pick<TaskEntry, "at" | "run">, other: Pick<TaskEntry, "at" | "run">): number {
  if (one.at !== other.at) return one.at - other.at;
  return one.run === other.run ? 0 : one.run < other.run ? -1 : 1;
}
