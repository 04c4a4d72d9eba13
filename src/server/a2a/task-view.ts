// A run as an A2A task, found by its id among the tasks of one agent.

import { createHash } from "node:crypto";
import { Task } from "@a2a-js/sdk";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import { get, type JsonObject } from "../../base/json.ts";
import type { RunRecord } from "../../engine/ports.ts";
import { runAt } from "../../host/stored-runs.ts";
import type { SeenRun } from "../seen-run.ts";
import type { ServerParts } from "../server-parts.ts";
import type { SideFile } from "../side-file.ts";
import type { ServedAgent } from "./agent-directory.ts";
import type { TaskPlace } from "./message-parts.ts";
import { taskArtifacts } from "./task-artifacts.ts";
import { taskHistory } from "./task-history.ts";
import { statusView } from "./task-status.ts";

/** What is kept with a run to find it again as a task. */
export interface TaskSetup {
  readonly agent: string;
  readonly context: string;
  /** The id of the message that began it. */
  readonly message: string;
}

export type SeenTask = Pick<SeenRun, "record" | "run">;

/** Undefined for runs that are no tasks. The runs of a task's agents have its setup, and are none. */
export function taskSetup({ setup, parent }: RunRecord): TaskSetup | undefined {
  const kept = parent === null ? get(setup, "a2a") : undefined;
  return kept === undefined ? undefined : (kept as unknown as TaskSetup);
}

export const placeOf = (record: RunRecord): TaskPlace => ({
  id: record.run,
  context: taskSetup(record)?.context ?? "",
});

export async function foundRecord(
  { store }: ServerParts,
  { address }: ServedAgent,
  id: string,
): Promise<RunRecord> {
  const record = await store.record(id);
  if (record !== undefined && taskSetup(record)?.agent === address) return record;
  throw taskMissing(id);
}

export async function foundTask(parts: ServerParts, agent: ServedAgent, id: string): Promise<SeenTask> {
  const record = await foundRecord(parts, agent, id);
  return { record, run: await runAt(parts.store, id, record.turn) };
}

const taskMissing = (id: string): Error =>
  new TaskNotFoundError(`there is no task \`${id.slice(0, 200)}\` of this agent`);

export interface TaskShape {
  /** Undefined: all of it. */
  readonly historyLength: number | undefined;
  readonly artifacts?: boolean;
}

export async function taskView(parts: ServerParts, seen: SeenTask, shape: TaskShape): Promise<Task> {
  const { record, run } = seen;
  const place = placeOf(record);
  const { status, metadata } = await statusView(parts, seen, place);
  const limit = shape.historyLength ?? Number.POSITIVE_INFINITY;
  const firstId = taskSetup(record)?.message ?? record.run;
  const program = await parts.engine.program(run.digest);
  return {
    id: record.run,
    contextId: place.context,
    status,
    artifacts: shape.artifacts === false ? [] : [...taskArtifacts(program, run)],
    history: [...(await taskHistory(parts, { seen, place, firstId, limit }))],
    metadata: { ...metadata },
  };
}

/** A task that was rejected never became a run; it is remembered as long as replies are. */
export function keepRejected(side: SideFile, { address }: ServedAgent, task: Task, at: number): void {
  const body = Task.toJSON(task) as JsonObject;
  side.putReply(rejectedKey(address, task.id), { hash: "", status: 200, headers: {}, body }, at);
}

export function rejectedTask(side: SideFile, { address }: ServedAgent, id: string): Task | undefined {
  const kept = side.reply(rejectedKey(address, id));
  return kept === undefined ? undefined : Task.fromJSON(kept.body);
}

const rejectedKey = (address: string, id: string): string =>
  `a2a rejected ${createHash("sha256").update(`${address} ${id}`).digest("hex")}`;
