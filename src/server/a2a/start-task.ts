// A message without a task starts one: a run of the agent's pack. The id of the message is the key of the
// run, so a message that is sent again finds what it started.

import { randomUUID } from "node:crypto";
import { type Message, type SendMessageRequest, type Task, TaskState } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { isoTime } from "../../base/iso-time.ts";
import { get, isObject, type Json, type JsonObject, put } from "../../base/json.ts";
import { sha256Of } from "../../base/sha256.ts";
import type { Mode } from "../../core/facts.ts";
import { newRunId } from "../../engine/run-id.ts";
import { type BegunRun, beginRun, type RunWish } from "../begin-run.ts";
import type { SentFile } from "../file-book.ts";
import { Problem } from "../problem.ts";
import type { Principal } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";
import type { ServedAgent } from "./agent-directory.ts";
import { agentMessage, dataPart, textPart } from "./message-parts.ts";
import type { OneAtATime } from "./one-at-a-time.ts";
import { hashOf, type ReadMessage, readMessage } from "./sent-message.ts";
import { keepRejected, type SeenTask, type TaskSetup } from "./task-view.ts";

export type StartedTask =
  | { readonly kind: "started"; readonly seen: SeenTask }
  | { readonly kind: "rejected"; readonly task: Task };

/** What stands against a start because of what was asked for, not because of how it was asked. */
const isRejection = ({ code, status }: Problem): boolean =>
  status === 422 && code !== "idempotency-key-reused";

export interface TaskStart {
  readonly agent: ServedAgent;
  readonly principal: Principal;
  readonly request: SendMessageRequest;
  /** Among all that start tasks here. */
  readonly starts: OneAtATime;
}

export async function startTask(
  parts: ServerParts,
  { agent, principal, request, starts }: TaskStart,
  message: Message,
): Promise<StartedTask> {
  const { files, ...said } = readMessage(message, agent.card.defaultInputModes);
  const wish = wishOf(agent, { message, said }, request);
  try {
    const key = JSON.stringify([principal.name, wish.key]);
    const { record, run } = await starts.run(key, () => begun(parts, principal, { wish, message, files }));
    return { kind: "started", seen: { record, run } };
  } catch (error) {
    if (!(error instanceof Problem) || !isRejection(error)) throw error;
    const task = rejected(parts, wish, message, error);
    keepRejected(parts.side, agent, task, parts.clock.now());
    return { kind: "rejected", task };
  }
}

interface Beginning {
  readonly wish: RunWish;
  readonly message: Message;
  readonly files: readonly SentFile[];
}

/** Its files are there before the run is, which may ask for them at once. */
async function begun(
  parts: ServerParts,
  principal: Principal,
  { wish, message, files }: Beginning,
): Promise<BegunRun> {
  if (files.length === 0) return beginRun(parts, principal, wish);
  const { clock, blobs } = parts;
  const id = newRunId(clock.now());
  blobs.files.put({ run: id, message: message.messageId }, files, clock.now());
  let isUsed = false;
  try {
    const started = await beginRun(parts, principal, { ...wish, id });
    isUsed = started.record.run === id;
    return started;
  } finally {
    if (!isUsed) blobs.files.drop(id);
  }
}

interface Opening {
  readonly message: Message;
  readonly said: Pick<ReadMessage, "text" | "data">;
}

function wishOf(
  { start, address, pack, key }: ServedAgent,
  { message, said: { text, data } }: Opening,
  { metadata }: SendMessageRequest,
): RunWish {
  const { messageId } = message;
  const a2a: TaskSetup = {
    agent: address,
    context: message.contextId || randomUUID(),
    message: messageId,
  };
  return {
    digest: pack.digest,
    variables: variablesOf(data),
    input: text,
    mode: modeOf(metadata),
    ...("state" in start && { agent: key }),
    ...("prompt" in start && { prompt: start.prompt }),
    key: `a2a ${address} ${messageId}`,
    requestHash: hashOf(message),
    setup: { a2a: { ...a2a } },
  };
}

function variablesOf(data: readonly Json[]): JsonObject {
  const variables: Record<string, Json> = {};
  for (const one of data) {
    if (!isObject(one)) throw new RequestMalformedError("a data part of a new task holds variables by name");
    for (const [name, value] of Object.entries(one)) put(variables, name, value);
  }
  return variables;
}

/** A client that talks, instead of waiting for an end, says so. */
function modeOf(metadata: SendMessageRequest["metadata"]): Mode {
  const mode = get(metadata ?? null, "mode") ?? "autonomous";
  if (mode === "autonomous" || mode === "conversational") return mode;
  throw new RequestMalformedError("`metadata.mode` is neither `autonomous` nor `conversational`");
}

/** The same message is rejected under the same id. */
function rejected(
  { clock }: ServerParts,
  { key = "", setup }: RunWish,
  message: Message,
  { code, message: detail, extras }: Problem,
): Task {
  const id = `rejected-${sha256Of(key).slice(0, 32)}`;
  const context = String(get(get(setup ?? null, "a2a"), "context"));
  const place = { id, context };
  const about = [textPart(detail), dataPart({ code, ...(extras as JsonObject) })];
  return {
    ...{ id, contextId: context, artifacts: [], metadata: { outcome: "rejected", reason: code } },
    status: {
      state: TaskState.TASK_STATE_REJECTED,
      message: agentMessage(place, `${id}/end`, about),
      timestamp: isoTime(clock.now()),
    },
    history: [{ ...message, taskId: id, contextId: context }],
  };
}
