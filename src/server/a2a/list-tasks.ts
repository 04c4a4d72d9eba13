// The tasks of an agent, the one that moved last first. Only the tasks of the page are read.

import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { Status } from "../../core/facts.ts";
import { runAt } from "../../host/stored-runs.ts";
import type { ServerParts } from "../server-parts.ts";
import type { ServedAgent } from "./agent-directory.ts";
import { isLater, type TaskIndex } from "./task-index.ts";
import type { TaskEntry } from "./task-shelf.ts";
import { taskView } from "./task-view.ts";

const PAGE = { default: 50, most: 100 };

/** Tasks read for one page at most: those of the state wanted may be few, and far apart. */
const READ_MOST = 1_000;

/** Statuses that a task in the state may have; which it is of them is seen when it is read. */
const STATUSES: Readonly<Partial<Record<TaskState, readonly Status[]>>> = {
  [TaskState.TASK_STATE_SUBMITTED]: ["running"],
  [TaskState.TASK_STATE_WORKING]: ["running", "waiting"],
  [TaskState.TASK_STATE_INPUT_REQUIRED]: ["waiting"],
  [TaskState.TASK_STATE_COMPLETED]: ["completed"],
  [TaskState.TASK_STATE_FAILED]: ["failed", "budget_exhausted"],
  [TaskState.TASK_STATE_CANCELED]: ["cancelled"],
  [TaskState.TASK_STATE_REJECTED]: [],
  [TaskState.TASK_STATE_AUTH_REQUIRED]: ["waiting"],
};

type Place = Pick<TaskEntry, "at" | "run">;

export async function listTasks(
  parts: ServerParts,
  { agent, index }: { readonly agent: ServedAgent; readonly index: TaskIndex },
  request: ListTasksRequest,
): Promise<ListTasksResponse> {
  const { pageSize, status, pageToken, includeArtifacts = false } = request;
  const size = sizeOf(pageSize);
  const historyLength = lengthOf(request.historyLength) ?? 0;
  const all = fitting(await index.tasksOf(agent.address), request);
  const before = pageToken === "" ? undefined : fromToken(pageToken);
  const rest = before === undefined ? all : all.filter((place) => isLater(before, place) > 0);
  const tasks: Task[] = [];
  let last: Place | undefined;
  let next: Place | undefined;
  for (const [read, place] of rest.entries()) {
    if (tasks.length === size || read === READ_MOST) {
      next = last;
      break;
    }
    const task = await taskAt(parts, place, { historyLength, artifacts: includeArtifacts });
    last = place;
    if (task === undefined) index.drop(agent.address, place.run);
    if (task !== undefined && (isAny(status) || task.status?.state === status)) tasks.push(task);
  }
  return {
    tasks,
    nextPageToken: next === undefined ? "" : toToken(next),
    pageSize: size,
    totalSize: all.length,
  };
}

const isAny = (status: TaskState): boolean => status === TaskState.TASK_STATE_UNSPECIFIED;

function sizeOf(given: number | undefined): number {
  const size = given ?? PAGE.default;
  if (Number.isInteger(size) && size >= 1 && size <= PAGE.most) return size;
  throw new RequestMalformedError(`\`pageSize\` is not a whole number from 1 to ${PAGE.most}`);
}

/** Undefined when it was not given. */
export function lengthOf(given: number | undefined): number | undefined {
  if (given === undefined || (Number.isInteger(given) && given >= 0)) return given;
  throw new RequestMalformedError("`historyLength` is not a whole number from 0 on");
}

function fitting(
  entries: readonly TaskEntry[],
  { contextId, status, statusTimestampAfter }: ListTasksRequest,
): readonly TaskEntry[] {
  const since = timeOf(statusTimestampAfter);
  const statuses = isAny(status) ? undefined : STATUSES[status];
  if (!isAny(status) && statuses === undefined)
    throw new RequestMalformedError("`status` is not the state of a task");
  return entries.filter(
    (entry) =>
      entry.at >= since &&
      (contextId === "" || entry.context === contextId) &&
      statuses?.includes(entry.status) !== false,
  );
}

function timeOf(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  const at = Date.parse(text);
  if (Number.isFinite(at)) return at;
  throw new RequestMalformedError("`statusTimestampAfter` is not a time in ISO 8601");
}

const toToken = ({ at, run }: Place): string => Buffer.from(`${at} ${run}`, "utf8").toString("base64url");

function fromToken(token: string): Place {
  const text = Buffer.from(token, "base64url").toString("utf8");
  const match = /^(\d{1,16}) (\S+)$/.exec(text);
  const place = { at: Number(match?.[1]), run: match?.[2] ?? "" };
  if (match === null || toToken(place) !== token)
    throw new RequestMalformedError("`pageToken` is not one of this list (begin anew without it)");
  return place;
}

/** Undefined when it was removed meanwhile. */
async function taskAt(
  parts: ServerParts,
  { run: id }: Place,
  shape: { readonly historyLength: number; readonly artifacts: boolean },
): Promise<Task | undefined> {
  const record = await parts.store.record(id);
  if (record === undefined) return undefined;
  return taskView(parts, { record, run: await runAt(parts.store, id, record.turn) }, shape);
}
