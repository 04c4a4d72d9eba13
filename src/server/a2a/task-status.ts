// How a run stands, as the status of an A2A task. Computed from the run alone, but for what the agents it
// called want of somebody.

import { type Message, type Part, TaskState, type TaskStatus } from "@a2a-js/sdk";
import { isoTime } from "../../base/iso-time.ts";
import type { JsonObject } from "../../base/json.ts";
import { type Run, statusOf } from "../../core/run.ts";
import type { RunRecord } from "../../engine/ports.ts";
import { needsAuth, type OpenQuestion, openQuestions } from "../open-questions.ts";
import { summaryFor } from "../run-summary.ts";
import type { SeenRun } from "../seen-run.ts";
import type { ServerParts } from "../server-parts.ts";
import { agentMessage, dataPart, type TaskPlace, textPart } from "./message-parts.ts";

export interface StatusView {
  readonly status: TaskStatus;
  readonly metadata: JsonObject;
  /** What somebody is asked; empty unless input is required. */
  readonly questions: readonly OpenQuestion[];
}

export async function statusView(
  parts: ServerParts,
  { record, run }: Pick<SeenRun, "record" | "run">,
  place: TaskPlace,
): Promise<StatusView> {
  const waits = statusOf(run) === "waiting";
  const summary = summaryFor(record, run);
  const questions = waits ? await openQuestions(parts, { record, run, summary }) : [];
  const state = taskState(run, questions);
  const message = statusMessage(place, run, questions);
  return {
    status: { state, message, timestamp: isoTime(run.now) },
    metadata: metadataOf(record, run, questions),
    questions,
  };
}

function taskState(run: Run, questions: readonly OpenQuestion[]): TaskState {
  switch (statusOf(run)) {
    case "completed":
      return TaskState.TASK_STATE_COMPLETED;
    case "failed":
    case "budget_exhausted":
      return TaskState.TASK_STATE_FAILED;
    case "cancelled":
      return TaskState.TASK_STATE_CANCELED;
    case "running":
      return run.turn === 1 ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING;
    case "waiting":
      // A call that is answered from elsewhere is work of somebody else, not a question to the client.
      if (questions.length === 0) return TaskState.TASK_STATE_WORKING;
      return questions.every(needsAuth)
        ? TaskState.TASK_STATE_AUTH_REQUIRED
        : TaskState.TASK_STATE_INPUT_REQUIRED;
  }
}

function metadataOf(record: RunRecord, run: Run, questions: readonly OpenQuestion[]): JsonObject {
  const { packId, packVersion } = record;
  const { reason, state, final, forkedFrom, held } = run;
  const [question] = questions;
  const first = question && (needsAuth(question) ? "auth_required" : question.wait.kind);
  return {
    pack: { id: packId, version: packVersion, digest: run.digest },
    ...(state !== null && { state, visit: run.visits[state] ?? 0 }),
    ...(first !== undefined && { reason: first }),
    ...(held !== undefined && { held: { ...held, since: isoTime(held.since) } }),
    ...(final !== null && { outcome: final }),
    ...(reason !== null && { reason: reason.code }),
    ...(reason?.limit !== undefined && { limit: reason.limit }),
    ...(forkedFrom !== null && { forked_from: { ...forkedFrom } }),
  };
}

/** Its id says what it is about, so that it is the same message wherever it is shown. */
function statusMessage(place: TaskPlace, run: Run, questions: readonly OpenQuestion[]): Message | undefined {
  const { id } = place;
  if (questions.length > 0) {
    const steps = questions.map((one) => one.id).join("+");
    return agentMessage(place, `${id}/asks/${steps}`, askingParts(run.lastText, questions));
  }
  if (run.final === null) return workingMessage(place, run);
  const text = run.final === "completed" ? run.lastText : (run.reason?.message ?? run.reason?.code ?? "");
  return text === "" ? undefined : agentMessage(place, `${id}/end`, [textPart(text)]);
}

function workingMessage(place: TaskPlace, run: Run): Message | undefined {
  if (statusOf(run) !== "waiting") return undefined;
  if (run.held !== undefined)
    return agentMessage(place, `${place.id}/held/${run.turn}`, [textPart(`held by ${run.held.by}`)]);
  const tools = Object.values(run.open).flatMap(({ ask, hold }) =>
    "tool" in ask && hold === "deferred" ? [`\`${ask.tool}\``] : [],
  );
  const text = `waits for ${tools.join(", ") || "an answer"}`;
  return agentMessage(place, `${place.id}/waits/${run.step}`, [textPart(text)]);
}

/** What was said last, what is wanted, and the same for programs. */
function askingParts(lastText: string, questions: readonly OpenQuestion[]): readonly Part[] {
  const wanted = questions.map((one) => `- ${one.text}`).join("\n");
  return [
    ...(lastText === "" ? [] : [textPart(lastText)]),
    textPart(`This task waits for:\n${wanted}`),
    dataPart({ waiting_for: questions.map(questionJson) }),
  ];
}

function questionJson({ id, run, parent, wait, text, schema }: OpenQuestion): JsonObject {
  const { kind, events, tool, args, sha256, question } = wait;
  return {
    ...{ question: id, kind, text, schema },
    ...(parent !== null && { run, parent: { ...parent } }),
    ...(events !== undefined && { events }),
    ...(tool !== undefined && { tool }),
    ...(args !== undefined && { args }),
    ...(sha256 !== undefined && { sha256 }),
    ...(question !== undefined && { asked: question }),
  };
}
