// What a turn changed about a task: artifacts as they were written, then the status where it is another. The
// same turn gives the same updates to whoever follows.

import { type StreamResponse, type TaskArtifactUpdateEvent, TaskStatus } from "@a2a-js/sdk";
import { canonical, type Json } from "../../base/json.ts";
import type { TurnRow, Wrote } from "../../core/facts.ts";
import type { Program } from "../../core/program.ts";
import { type Run, statusOf } from "../../core/run.ts";
import type { RunRecord } from "../../engine/ports.ts";
import type { ServerParts } from "../server-parts.ts";
import type { TaskPlace } from "./message-parts.ts";
import { responseArtifact, writtenArtifact } from "./task-artifacts.ts";
import { type StatusView, statusView } from "./task-status.ts";

export interface TurnOfTask {
  readonly record: RunRecord;
  readonly place: TaskPlace;
  readonly row: TurnRow;
  readonly before: Run;
  readonly after: Run;
}

export async function updatesOf(parts: ServerParts, turn: TurnOfTask): Promise<readonly StreamResponse[]> {
  const { record, place, row, before, after } = turn;
  const program = await parts.engine.program(after.digest);
  const updates = row.facts.flatMap((fact) =>
    fact.type === "wrote" ? [written(place, program, fact, before)] : [],
  );
  const response = after.final === before.final ? undefined : responseArtifact(after);
  if (response !== undefined) updates.push(update(place, { artifact: response, append: false, last: true }));
  const was = await statusView(parts, { record, run: before }, place);
  const now = await statusView(parts, { record, run: after }, place);
  // What an agent asks may be gone by the time its caller is looked at; the caller's own status is not.
  const isSame = statusOf(before) === statusOf(after) && statusText(was) === statusText(now);
  return isSame ? updates : [...updates, statusUpdate(place, now)];
}

function written(place: TaskPlace, program: Program, fact: Wrote, before: Run): StreamResponse {
  const isAdded =
    fact.mode === "append" && fact.fresh !== true && Object.hasOwn(before.artifacts, fact.artifact);
  const artifact = writtenArtifact(program, fact);
  return update(place, { artifact, append: isAdded, last: fact.mode === "replace" });
}

function update(
  { id, context }: TaskPlace,
  given: { artifact: TaskArtifactUpdateEvent["artifact"]; append: boolean; last: boolean },
): StreamResponse {
  const { artifact, append, last: lastChunk } = given;
  const value = { taskId: id, contextId: context, artifact, append, lastChunk, metadata: undefined };
  return { payload: { $case: "artifactUpdate", value } };
}

export function statusUpdate({ id, context }: TaskPlace, { status, metadata }: StatusView): StreamResponse {
  const value = { taskId: id, contextId: context, status, metadata: { ...metadata } };
  return { payload: { $case: "statusUpdate", value } };
}

/** Only that it is later is no news. */
export const statusText = ({ status, metadata }: Pick<StatusView, "status" | "metadata">): string =>
  canonical([TaskStatus.toJSON({ ...status, timestamp: undefined }) as Json, metadata]);

/** The status that whoever gets this knows; undefined where it tells nothing of it. */
export function toldBy({ payload }: StreamResponse): string | undefined {
  if (payload?.$case !== "task" && payload?.$case !== "statusUpdate") return undefined;
  const { status, metadata } = payload.value;
  return status === undefined ? undefined : statusText({ status, metadata: metadata ?? {} });
}
