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
import { fileAddress, type SentFile, sentFile } from "../file-book.ts";
import { PACK_EXTENSION } from "./agent-card.ts";

const ID_CHARS_MAX = 500;

/** Of one file, and of one message. */
const FILE_BYTES_MAX = 5_000_000;
const FILES_MAX = 20;
const NAME_CHARS_MAX = 255;

/** Text as it was written, data for programs, and files, which the text names. */
export interface ReadMessage {
  readonly text: string;
  readonly data: readonly Json[];
  readonly files: readonly SentFile[];
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

/** Files of text are read as text; of others a run is told where they are. None is fetched from elsewhere. */
export function readMessage({ parts }: Message, inputModes: readonly string[]): ReadMessage {
  const texts: string[] = [];
  const data: Json[] = [];
  const files: SentFile[] = [];
  for (const [index, part] of parts.entries()) {
    const { content } = part;
    if (content === undefined)
      throw new RequestMalformedError(`\`message.parts[${index}]\` holds neither text, data nor a file`);
    checkType(part, inputModes);
    if (content.$case === "data") data.push((content.value ?? null) as Json);
    else if (content.$case !== "raw") texts.push(content.value);
    else {
      const file = fileIn(part, content.value, index);
      files.push(file);
      texts.push(isTextual(file.type) ? file.bytes.toString("utf8") : wordsFor(file));
    }
  }
  if (files.length > FILES_MAX) throw new RequestMalformedError(`a message has at most ${FILES_MAX} files`);
  return { text: texts.join("\n"), data, files };
}

function fileIn({ filename, mediaType }: Part, content: Uint8Array, index: number): SentFile {
  if (content.length > FILE_BYTES_MAX)
    throw new RequestMalformedError(
      `\`message.parts[${index}]\` is a file of ${content.length} bytes (${FILE_BYTES_MAX} are taken at most)`,
    );
  if (filename.length > NAME_CHARS_MAX || !filename.isWellFormed() || /\p{Cc}/u.test(filename))
    throw new RequestMalformedError(
      `\`message.parts[${index}].filename\` is not a name of up to ${NAME_CHARS_MAX} characters`,
    );
  return sentFile(Buffer.from(content), { name: filename, type: typeOf(mediaType) });
}

/** What a run, and so its model, learns of a file that is not text. */
function wordsFor(file: SentFile): string {
  const { name, type, bytes } = file;
  return `[file ${name === "" ? "" : `${name}, `}${type}, ${bytes.length} bytes: ${fileAddress(file)}]`;
}

/** A type and a subtype, without parameters: it is sent as a header later. */
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/;

const typeOf = (mediaType: string): string => mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";

const isJson = (type: string): boolean => type === "application/json" || type.endsWith("+json");
const isTextual = (type: string): boolean => type.startsWith("text/") || isJson(type);

/** `image/*` takes every picture. */
const isListed = (inputModes: readonly string[], type: string): boolean =>
  inputModes.some((mode) => [type, `${type.split("/", 1)[0]}/*`, "*/*"].includes(typeOf(mode)));

function checkType({ content, mediaType }: Part, inputModes: readonly string[]): void {
  const type = typeOf(mediaType);
  const isWellTyped = type === "" || MEDIA_TYPE.test(type);
  const isKind = {
    data: type === "" || isJson(type),
    text: type === "" || isTextual(type),
    raw: isTextual(type),
    url: false,
  }[content?.$case ?? "url"];
  const isFree = content?.$case !== "url" && type !== "" && isListed(inputModes, type);
  if (isWellTyped && (isKind || isFree)) return;
  const what =
    content?.$case === "url"
      ? "files by address are"
      : `\`${type.slice(0, 100) || "a file without a type"}\` is`;
  const modes = inputModes.join(", ").slice(0, 200);
  throw new ContentTypeNotSupportedError(
    `${what} not taken here (send text or data; the card lists ${modes})`,
  );
}

/** Tells a repetition from another message with the same id. */
export const hashOf = (message: Message): string => sha256Of(canonical(MessageCodec.toJSON(message) as Json));
