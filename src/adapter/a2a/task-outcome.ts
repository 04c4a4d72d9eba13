// How a task stands, and what it has come to: the outcome of the call in the shape that agents of the pack
// answer in, `{status, response, artifacts}` (S41).

import type { Message, Task } from "@a2a-js/sdk";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import type { ToolAnswer } from "../../engine/ports.ts";
import { bounded, cut, redacted } from "../mcp/tool-result.ts";
import { toolError } from "../tool/bound-tool.ts";
import { artifactsOf, dataOf, messageText, textOf } from "./message-parts.ts";

export interface ResultLimits {
  readonly label: string;
  readonly maxBytes: number;
  readonly hide: (text: string) => string;
}

export type Standing = "working" | "input" | "auth" | "completed" | "failed" | "rejected" | "cancelled";

/** The states of the protocol by number; what is unknown is waited for. */
const STANDINGS: Readonly<Record<number, Standing>> = {
  3: "completed",
  4: "failed",
  5: "cancelled",
  6: "input",
  7: "rejected",
  8: "auth",
};

export const standingOf = (task: Pick<Task, "status">): Standing =>
  STANDINGS[task.status?.state ?? 0] ?? "working";

const ERROR_BYTES = 4096;

/** Of a task that is over. */
export function outcomeOf(
  task: Task,
  standing: Exclude<Standing, "working" | "input" | "auth">,
  limits: ResultLimits,
): ToolAnswer {
  const { label, hide } = limits;
  const words = messageText(task.status?.message);
  if (standing !== "completed") {
    const said = [words, ...reasonsIn(task.metadata)].filter((text) => text !== "").join("; ");
    const reason = said || textOf(task.artifacts.flatMap(({ parts }) => parts)) || "it says no more";
    const message = cut(`agent \`${label}\` ${ENDS[standing]}: ${reason}`, ERROR_BYTES);
    return toolError(`task_${standing}`, hide(message));
  }
  const artifacts = artifactsOf(task.artifacts);
  // Some agents say their answer in an artifact only, some in the last message of the conversation.
  const spoken =
    words || messageText(lastOfAgent(task)) || textOf(task.artifacts.flatMap(({ parts }) => parts));
  return result({ response: spoken, artifacts, data: dataOf(task.status?.message?.parts ?? []) }, limits);
}

const ENDS = { failed: "failed", rejected: "rejected the task", cancelled: "cancelled the task" } as const;

/** Of an agent that answers at once, without a task. */
export const replyOf = (message: Message, limits: ResultLimits): ToolAnswer =>
  result({ response: messageText(message), artifacts: {}, data: dataOf(message.parts) }, limits);

interface Said {
  readonly response: string;
  readonly artifacts: JsonObject;
  readonly data: Json | undefined;
}

function result({ response, artifacts, data }: Said, { maxBytes, hide }: ResultLimits): ToolAnswer {
  const value = {
    status: "completed",
    response: cut(response, maxBytes),
    artifacts: bounded(artifacts, maxBytes),
    ...(data !== undefined && { data: bounded(data, maxBytes) }),
  };
  return { ok: true, value: redacted(value, hide) };
}

const AGENT_ROLE = 2;

const lastOfAgent = ({ history }: Task): Message | undefined =>
  history.findLast(({ role }) => (role as number) === AGENT_ROLE);

/** What another packloop says about a run that did not complete. */
function reasonsIn(metadata: unknown): readonly string[] {
  if (!isObject(metadata)) return [];
  const { outcome, limit } = metadata;
  return [outcome, limit].filter((one) => typeof one === "string");
}
