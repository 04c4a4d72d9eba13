// Which tasks each agent has and when they last moved. The store lists runs by when they began; this is made
// from it a little at a time when the server has started, and follows it from then on. Until it is made, what
// the server knew when it last ran will do: every task that is shown is read from the store.

import type { RunRecord } from "../../engine/ports.ts";
import { eachRecord } from "../../host/stored-runs.ts";
import type { ServerParts } from "../server-parts.ts";
import { type TaskEntry, TaskShelf } from "./task-shelf.ts";
import { taskSetup } from "./task-view.ts";

/** Records read at once while it is made, and how long others have the machine before the next ones. */
const READ = { records: 200, restMs: 5 };

/** With so many runs that have moved they are looked at before somebody lists tasks. */
const MOVED_MANY = 500;

interface AgentTasks {
  readonly byRun: Map<string, TaskEntry>;
  /** Undefined when something has moved. */
  sorted: readonly TaskEntry[] | undefined;
}

export class TaskIndex {
  readonly #parts: ServerParts;
  readonly #byAgent = new Map<string, AgentTasks>();
  readonly #moved = new Set<string>();
  readonly #closed = new AbortController();
  readonly #shelf: TaskShelf;
  /** Placed, and not on the shelf yet. */
  readonly #unshelved = new Set<string>();
  #made: Promise<void> | undefined;
  #isKnown = false;
  /** Who lists tasks and waits for it. */
  #wanted = 0;
  #placing: Promise<void> | undefined;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#shelf = new TaskShelf(parts.side);
  }

  /** Makes it without haste, so that whoever lists tasks first finds it made. */
  begin(): void {
    this.#made ??= this.#make();
    this.#made.catch((error: unknown) => this.#parts.log.error({ err: error }, "tasks could not be read"));
  }

  /** Nothing is read from the store any more. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.allSettled([this.#made, this.#placing]);
    this.#shelve();
  }

  turn(run: string): void {
    if (this.#made === undefined) return;
    this.#moved.add(run);
    if (this.#moved.size >= MOVED_MANY && this.#placing === undefined)
      this.#placeMoved().catch((error: unknown) =>
        this.#parts.log.error({ err: error }, "tasks that moved could not be read"),
      );
  }

  /** The one that moved last first. */
  async tasksOf(agent: string): Promise<readonly TaskEntry[]> {
    this.#wanted++;
    try {
      this.#made ??= this.#make();
      if (!this.#takeShelf()) await this.#made;
      await this.#placing;
      await this.#placeMoved();
    } finally {
      this.#wanted--;
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
    this.#shelf.drop(run);
  }

  async #make(): Promise<void> {
    const { store, log, clock } = this.#parts;
    const { signal } = this.#closed;
    const damaged = (run: string) => log.error({ run }, "a run is damaged");
    let read = 0;
    this.#takeShelf();
    try {
      for await (const record of eachRecord(store, { page: READ.records }, damaged)) {
        if (signal.aborted) return;
        this.#place(record);
        read++;
        if (read % READ.records !== 0) continue;
        this.#shelve();
        if (this.#wanted === 0) await clock.sleep(READ.restMs, signal);
      }
      this.#shelve();
      this.#shelf.markWhole();
      this.#isKnown = true;
    } catch (error) {
      this.#made = undefined;
      throw error;
    }
  }

  /** One after the other: what is read later is the newer one. */
  #placeMoved(): Promise<void> {
    this.#placing ??= this.#readMoved().finally(() => {
      this.#placing = undefined;
    });
    return this.#placing;
  }

  async #readMoved(): Promise<void> {
    for (const run of this.#moved) {
      if (this.#closed.signal.aborted) return;
      this.#moved.delete(run);
      const record = await this.#parts.store.record(run);
      if (record !== undefined) this.#place(record);
    }
    this.#shelve();
  }

  /** True when what was known before is known again, or more. */
  #takeShelf(): boolean {
    if (this.#isKnown || !this.#shelf.isWhole) return this.#isKnown;
    for (const { agent, ...entry } of this.#shelf.all()) {
      const tasks = this.#tasks(agent);
      // What was read since the start is newer.
      if (!tasks.byRun.has(entry.run)) tasks.byRun.set(entry.run, entry);
      tasks.sorted = undefined;
    }
    this.#isKnown = true;
    return true;
  }

  #shelve(): void {
    const tasks = [...this.#byAgent].flatMap(([agent, { byRun }]) =>
      [...this.#unshelved].flatMap((run) => {
        const entry = byRun.get(run);
        return entry === undefined ? [] : [{ ...entry, agent }];
      }),
    );
    this.#shelf.put(tasks);
    this.#unshelved.clear();
  }

  #tasks(agent: string): AgentTasks {
    const known = this.#byAgent.get(agent);
    if (known !== undefined) return known;
    const made: AgentTasks = { byRun: new Map(), sorted: undefined };
    this.#byAgent.set(agent, made);
    return made;
  }

  #place(record: RunRecord): void {
    const setup = taskSetup(record);
    if (setup === undefined) return;
    const { run, updatedAt: at, status } = record;
    const tasks = this.#tasks(setup.agent);
    const known = tasks.byRun.get(run);
    // It may have been read before the one that is known, which a later turn led to.
    if (known !== undefined && (known.at > at || (known.at === at && !isOpen(known)))) return;
    if (known?.at === at && known.status === status) return;
    tasks.byRun.set(run, { run, at, context: setup.context, status });
    tasks.sorted = undefined;
    this.#unshelved.add(run);
  }
}

const isOpen = ({ status }: TaskEntry): boolean => status === "running" || status === "waiting";

/** By time, and by name where times are the same. */
export function isLater(one: Pick<TaskEntry, "at" | "run">, other: Pick<TaskEntry, "at" | "run">): number {
  if (one.at !== other.at) return one.at - other.at;
  return one.run === other.run ? 0 : one.run < other.run ? -1 : 1;
}
