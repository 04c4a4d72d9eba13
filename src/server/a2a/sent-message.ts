// A message as a client sent it: checked for what every message must have, and read for what we understand.

import type { Message, Part, SendMessageRequest } from "@a2a-js/sdk";
import { Message as MessageCodec, Role } from "@a2a-js/sdk";
import {
  ContentTypeNotSupportedError,
  ExtensionSupportRequiredError,
  RequestMalformedError,
} from "@a2a-js/sdk/errors";
import { canonical, isObject, type Json } from "../../base/json.ts";
import { sha256Of } from "../../base/sha256.ts";
import { PACK_EXTENSION } from "./agent-card.ts";

const ID_CHARS_MAX = 500;

/** Text as it was written, and data for programs. */
export interface ReadMessage {
  readonly text: string;
  readonly data: readonly Json[];
}

/** What the package reads as it comes: a wrong shape is refused before, with where it is wrong. */
export function checkSendParams(params: unknown): void {
  const message = isObject(params) ? params["message"] : undefined;
  if (!isObject(message)) throw new RequestMalformedError("`message` is missing");
  for (const name of ["messageId", "taskId", "contextId"])
    if (message[name] !== undefined && typeof message[name] !== "string")
      throw new RequestMalformedError(`\`message.${name}\` is not a text`);
  const { parts } = message;
  if (!Array.isArray(parts) || parts.length === 0)
    throw new RequestMalformedError("`message.parts` is not a list with something in it");
  for (const [index, part] of (parts as readonly unknown[]).entries())
    if (!isObject(part)) throw new RequestMalformedError(`\`message.parts[${index}]\` is not an object`);
}

export function checkedMessage({ message }: SendMessageRequest): Message {
  if (message === undefined) throw new RequestMalformedError("`message` is missing");
  const { messageId, contextId, role, extensions } = message;
  if (messageId === "") throw new RequestMalformedError("`message.messageId` is missing");
  for (const [name, id] of Object.entries({ messageId, contextId }))
    if (id.length > ID_CHARS_MAX || !id.isWellFormed())
      throw new RequestMalformedError(
        `\`message.${name}\` is not a text of up to ${ID_CHARS_MAX} characters`,
      );
  if (role !== Role.ROLE_USER) throw new RequestMalformedError("`message.role` is not `ROLE_USER`");
  if (message.parts.length === 0) throw new RequestMalformedError("`message.parts` is empty");
  // What a message was built on cannot be left out of it unnoticed.
  const unknown = extensions.filter((uri) => uri !== PACK_EXTENSION);
  if (unknown.length > 0)
    throw new ExtensionSupportRequiredError(
      `the message uses extensions that are not known here: ${unknown.join(", ").slice(0, 500)}`,
    );
  return message;
}

/** Files of text are text; others are refused, and none is fetched from elsewhere. */
export function readMessage({ parts }: Message, inputModes: readonly string[]): ReadMessage {
  const texts: string[] = [];
  const data: Json[] = [];
  for (const [index, part] of parts.entries()) {
    const { content } = part;
    if (content === undefined)
      throw new RequestMalformedError(`\`message.parts[${index}]\` holds neither text, data nor a file`);
    checkType(part, inputModes);
    if (content.$case === "data") data.push((content.value ?? null) as Json);
    else texts.push(content.$case === "raw" ? content.value.toString("utf8") : content.value);
  }
  return { text: texts.join("\n"), data };
}

function checkType({ content, mediaType }: Part, inputModes: readonly string[]): void {
  const type = mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isText = type.startsWith("text/");
  const isJson = type === "application/json" || type.endsWith("+json");
  const isTaken =
    content?.$case === "data"
      ? type === "" || isJson || inputModes.includes(type)
      : content?.$case === "text"
        ? type === "" || isText || isJson || inputModes.includes(type)
        : content?.$case === "raw" && (isText || isJson);
  if (isTaken) return;
  const what =
    content?.$case === "url" ? "files by address are" : `\`${type || "a file without a type"}\` is`;
  throw new ContentTypeNotSupportedError(`${what} not taken here (send text or data)`);
}

/** Tells a repetition from another message with the same id. */
export const hashOf = (message: Message): string => sha256Of(canonical(MessageCodec.toJSON(message) as Json));
