// Messages and their parts in the shapes of the A2A package, without its many empty fields at every place.

import { type Message, type Part, Role } from "@a2a-js/sdk";
import type { Json } from "../../base/json.ts";
import { type FileLine, fileAddress } from "../file-book.ts";

/** Where a message belongs. */
export interface TaskPlace {
  /** The task's id, which is the run's. */
  readonly id: string;
  readonly context: string;
}

export const textPart = (value: string, mediaType = "text/plain"): Part => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType,
});

export const dataPart = (value: Json, mediaType = "application/json"): Part => ({
  content: { $case: "data", value },
  metadata: undefined,
  filename: "",
  mediaType,
});

/** By reference: the content stays where it is. */
export const filePart = (file: FileLine): Part => ({
  content: { $case: "url", value: fileAddress(file) },
  metadata: { sha256: file.sha256 },
  filename: file.name,
  mediaType: file.type,
});

export const agentMessage = (place: TaskPlace, messageId: string, parts: readonly Part[]): Message =>
  messageOf(place, { messageId, parts, role: Role.ROLE_AGENT });

export const userMessage = (place: TaskPlace, messageId: string, parts: readonly Part[]): Message =>
  messageOf(place, { messageId, parts, role: Role.ROLE_USER });

function messageOf(
  { id, context }: TaskPlace,
  { messageId, parts, role }: { messageId: string; parts: readonly Part[]; role: Role },
): Message {
  return {
    ...{ messageId, contextId: context, taskId: id, role, parts: [...parts] },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  };
}
