// What was said, in the form the conventions give it. Leaves only where somebody asked for it, without
// secrets and within bounds.

import type { Json } from "../base/json.ts";
import type { ModelReply, ToolCall } from "../core/facts.ts";
import type { ModelRequest, RequestMessage } from "../core/request.ts";
import type { Redaction } from "../engine/redaction.ts";

/** Longer texts are cut, and of a long conversation only its end leaves. */
const TEXT_MAX = 16_384;
const MESSAGES_MAX = 131_072;

export class Content {
  readonly #redaction: Redaction | undefined;

  constructor(redaction: Redaction | undefined) {
    this.#redaction = redaction;
  }

  system({ system }: ModelRequest): string {
    return JSON.stringify([this.#text(system)]);
  }

  input({ messages }: ModelRequest): string {
    const shown: string[] = [];
    let length = 0;
    for (let index = messages.length - 1; index >= 0; index--) {
      const text = JSON.stringify(this.#message(messages[index] as RequestMessage));
      length += text.length;
      if (shown.length > 0 && length > MESSAGES_MAX) break;
      shown.unshift(text);
    }
    return `[${shown.join(",")}]`;
  }

  output({ text, calls }: ModelReply, finishReason: string): string {
    return JSON.stringify([
      { role: "assistant", parts: this.#said(text, calls), finish_reason: finishReason },
    ]);
  }

  value(value: Json): string {
    return cut(JSON.stringify(this.#clean(value)) ?? "null");
  }

  /** Of an error, which may repeat what was said. */
  line(text: string): string {
    return cut(this.#clean(text));
  }

  #message(message: RequestMessage): Json {
    switch (message.role) {
      case "user":
        return { role: "user", parts: [this.#text(message.text)] };
      case "assistant":
        return { role: "assistant", parts: this.#said(message.text, message.calls) };
      case "tool": {
        const response = this.#bounded(message.value);
        return { role: "tool", parts: [{ type: "tool_call_response", id: message.call, response }] };
      }
    }
  }

  #said(text: string, calls: readonly ToolCall[]): readonly Json[] {
    const parts = calls.map(({ id, tool, args }) => ({
      type: "tool_call",
      id,
      name: tool,
      arguments: this.#bounded(args),
    }));
    return text === "" ? parts : [this.#text(text), ...parts];
  }

  #text(text: string): Json {
    return { type: "text", content: cut(this.#clean(text)) };
  }

  /** As it is where it is short, else the beginning of its text. */
  #bounded(value: Json): Json {
    const clean = this.#clean(value);
    const text = JSON.stringify(clean);
    return text.length <= TEXT_MAX ? clean : cut(text);
  }

  #clean<T>(value: T): T {
    return this.#redaction === undefined ? value : this.#redaction.json(value);
  }
}

const cut = (text: string): string => (text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`);
