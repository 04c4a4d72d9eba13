// One call of a remote agent: what it needs besides its arguments, and the requests it makes. Errors become
// faults or problems here.

import type { Message, Part, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import type { CallContext } from "../../engine/ports.ts";
import type { Surroundings } from "../tool/bound-tool.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { failureOf, isTaskUnknown, isUnsupported } from "./call-failure.ts";
import type { OpenAgent, RemoteAgents } from "./remote-agents.ts";
import type { ResultLimits } from "./task-outcome.ts";

export interface AgentCall extends ResultLimits {
  readonly agents: RemoteAgents;
  readonly definition: AgentDefinition;
  readonly around: Surroundings;
  /** The message may be sent again when its end is unknown (S46). */
  readonly safe: boolean;
  /** For one request. */
  readonly timeoutMs: number;
  /** For the whole task, where the binding sets an end. */
  readonly waitMs: number | undefined;
  readonly context: CallContext;
}

/** Nothing has been asked of the agent while its card is read. */
export async function opened(call: AgentCall): Promise<OpenAgent> {
  const { agents, definition, around, timeoutMs, context } = call;
  const options = { around, timeoutMs, signal: context.signal, trace: context.trace?.headers };
  return await made(call, "look", agents.open(definition, options));
}

/** Undefined when the agent does not know the task. */
export async function getTask(call: AgentCall, id: string): Promise<Task | undefined> {
  const { client } = await opened(call);
  const request = client.getTask({ id, tenant: "", historyLength: HISTORY }, { signal: call.context.signal });
  const unlessUnknown = request.catch((error: unknown) => {
    if (isTaskUnknown(error)) return undefined;
    throw error;
  });
  return await made(call, "look", unlessUnknown);
}

/** The last message may be the answer. */
const HISTORY = 1;

/** A task that is over, or that nobody knows, needs no end. */
export async function cancelTask(call: AgentCall, id: string): Promise<void> {
  const { client } = await opened(call);
  const { signal } = call.context;
  const request = client.cancelTask({ id, tenant: "", metadata: undefined }, { signal });
  const unlessOver = request.catch((error: unknown) => {
    if (!isTaskUnknown(error) && !isUnsupported(error)) throw error;
  });
  await made(call, "look", unlessOver);
}

/** Resolves when the task is seen to be no longer at work, or the stream ends for whatever reason. */
export async function watchTask(
  call: AgentCall,
  { client }: OpenAgent,
  { id, isOver }: { readonly id: string; readonly isOver: (event: StreamResponse) => boolean },
): Promise<void> {
  const { signal } = call.context;
  const end = new AbortController();
  try {
    const stream = client.resubscribeTask(
      { id, tenant: "" },
      { signal: AbortSignal.any([signal, end.signal]) },
    );
    for await (const event of stream) if (isOver(event)) return;
  } catch {
    // A stream only saves looks: the one that follows tells what is wrong, if anything is.
    signal.throwIfAborted();
  } finally {
    end.abort();
  }
}

export interface Sending {
  readonly messageId: string;
  readonly parts: Part[];
  /** For an answer: the task that asked. */
  readonly task?: { readonly id: string; readonly context: string };
}

export type Arrived =
  | { readonly kind: "message"; readonly message: Message }
  /** `task` is undefined when only its name is known yet. */
  | { readonly kind: "task"; readonly id: string; readonly context: string; readonly task: Task | undefined };

/** Sends a message and resolves with the first thing that comes back, which names the task. */
export async function sendMessage(call: AgentCall, agent: OpenAgent, sending: Sending): Promise<Arrived> {
  const streamed = agent.streams ? await firstOfStream(call, agent, sending) : undefined;
  if (streamed !== undefined) return streamed;
  const { signal } = call.context;
  const result = await made(call, "send", agent.client.sendMessage(requestOf(sending), { signal }));
  return "messageId" in result ? { kind: "message", message: result } : taskArrived(result);
}

/** Undefined when the agent does not stream after all. */
async function firstOfStream(
  call: AgentCall,
  { client }: OpenAgent,
  sending: Sending,
): Promise<Arrived | undefined> {
  const { timeoutMs, context } = call;
  const end = new AbortController();
  const signal = AbortSignal.any([context.signal, end.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    for await (const event of client.sendMessageStream(requestOf(sending), { signal })) {
      const arrived = arrivedIn(event);
      if (arrived !== undefined) return arrived;
    }
  } catch (error) {
    context.signal.throwIfAborted();
    if (isUnsupported(error)) return undefined;
    throw failureOf(signal.aborted ? signal.reason : error, { ...placeOf(call), phase: "send" });
  } finally {
    end.abort();
  }
  throw failureOf(new DOMException("the stream ended", "TimeoutError"), { ...placeOf(call), phase: "send" });
}

function arrivedIn({ payload }: StreamResponse): Arrived | undefined {
  switch (payload?.$case) {
    case "message":
      return { kind: "message", message: payload.value };
    case "task":
      return taskArrived(payload.value);
    case "statusUpdate":
    case "artifactUpdate":
      return { kind: "task", id: payload.value.taskId, context: payload.value.contextId, task: undefined };
    default:
      return undefined;
  }
}

const taskArrived = (task: Task): Arrived => ({ kind: "task", id: task.id, context: task.contextId, task });

function requestOf({ messageId, parts, task }: Sending): SendMessageRequest {
  return {
    tenant: "",
    message: {
      messageId,
      contextId: task?.context ?? "",
      taskId: task?.id ?? "",
      role: USER_ROLE,
      parts,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      historyLength: HISTORY,
      // The task's name is wanted at once: it has to be on record before anything can be lost.
      returnImmediately: true,
    },
    metadata: undefined,
  };
}

const USER_ROLE = 1;

async function made<T>(call: AgentCall, phase: "look" | "send", request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    call.context.signal.throwIfAborted();
    throw failureOf(error, { ...placeOf(call), phase });
  }
}

const placeOf = ({ label, hide }: AgentCall) => ({ label, hide });
