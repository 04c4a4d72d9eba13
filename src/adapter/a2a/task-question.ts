// A task that waits for somebody, as a question that a run can wait with, and the person's answer as parts
// of a message.

import type { Part, Task } from "@a2a-js/sdk";
import type { Json, JsonObject } from "../../base/json.ts";
import { bounded, cut } from "../mcp/tool-result.ts";
import { shortDigest } from "./card-pin.ts";
import { dataOf, messageText } from "./message-parts.ts";

const TEXT_BYTES = 8192;
const DATA_BYTES = 65_536;

/** The same question has the same id, however often it is looked at. */
export function questionId({ status }: Task): string {
  const { messageId = "", parts = [] } = status?.message ?? {};
  const words = parts.map(({ content }) => (content?.$case === "text" ? content.value : ""));
  return shortDigest([status?.state ?? 0, status?.timestamp ?? "", messageId, words]);
}

export function inputQuestion({ status }: Task, label: string): JsonObject {
  const text = messageText(status?.message) || "the agent asks for input";
  const data = dataOf(status?.message?.parts ?? []);
  return {
    text: cut(text, TEXT_BYTES),
    from: label,
    ...(data !== undefined && { data: bounded(data, DATA_BYTES) }),
  };
}

/** Credentials never go through a run: they are given to the agent where it wants them. */
export function authQuestion({ status }: Task, label: string): JsonObject {
  const said = cut(messageText(status?.message) || "it says no more", TEXT_BYTES);
  const text = `the agent wants to be authorised: ${said}\ndo that outside, write no secret here, then answer true`;
  return { text, schema: { type: "boolean" }, from: label, auth: true };
}

export const SEND_AGAIN = "send again";
const GIVE_UP = "give up";

/** S46, where it is the agent who forgot. */
export const lostQuestion = (task: string, label: string): JsonObject => ({
  text: `the agent no longer knows task \`${task}\`; whether it did anything is unknown`,
  choices: [SEND_AGAIN, GIVE_UP],
  from: label,
});

/** A text is said, everything else is data. */
export const answerParts = (answer: Json): Part[] =>
  typeof answer === "string" ? [textPart(answer)] : [dataPart(answer)];

export const textPart = (value: string): Part => part({ $case: "text", value }, "text/plain");

export const dataPart = (value: Json): Part => part({ $case: "data", value }, "application/json");

const part = (content: NonNullable<Part["content"]>, mediaType: string): Part => ({
  content,
  mediaType,
  filename: "",
  metadata: undefined,
});
