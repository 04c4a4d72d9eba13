// The conversation as the AI SDK's model interface takes it.
//
// W1: every call has exactly one result, right behind the answer that made it; providers refuse all else.
// W2: what tools say is data: it stands inside a JSON value that names it, so no text in it can end it.

import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { ToolCall } from "../../core/facts.ts";
import type { ModelRequest, RequestMessage } from "../../core/request.ts";
import { type ExtraPart, readExtra } from "./extra.ts";
import { wireName } from "./tool-names.ts";

type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;
type ToolMessage = Extract<LanguageModelV4Message, { role: "tool" }>;
type Answer = Extract<RequestMessage, { role: "assistant" }>;
type Result = Extract<RequestMessage, { role: "tool" }>;

export interface PromptTarget {
  /** The model: what it said earlier gets back what it came with. */
  readonly from: string;
  /** Where given, reasoning goes back only if what stood before it is the same still. */
  readonly prefix: string | undefined;
}

export function wirePrompt(
  { messages, tools }: Pick<ModelRequest, "messages" | "tools">,
  system: string,
  target: PromptTarget,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = system === "" ? [] : [{ role: "system", content: system }];
  // Some providers refuse calls in the history of a request that offers no tool.
  if (tools.length === 0) return [...prompt, ...messages.map(plainMessage)];
  const talk = new Talk(prompt, target);
  for (const message of messages) talk.add(message);
  talk.settle();
  return prompt;
}

/** Builds the messages in order and keeps book of calls that have no result yet. */
class Talk {
  readonly #prompt: LanguageModelV4Prompt;
  readonly #target: PromptTarget;
  /** Calls without a result, by our name; with the provider's name. */
  readonly #open = new Map<string, { readonly id: string; readonly tool: string }>();
  #results: ToolMessage | undefined;

  constructor(prompt: LanguageModelV4Prompt, target: PromptTarget) {
    this.#prompt = prompt;
    this.#target = target;
  }

  add(message: RequestMessage): void {
    if (message.role === "tool") return this.#result(message);
    this.settle();
    if (message.role === "user")
      this.#prompt.push({ role: "user", content: [{ type: "text", text: message.text }] });
    else this.#answer(message);
  }

  /** W1: a call nobody answered gets a result that says so. */
  settle(): void {
    for (const [call, { tool }] of this.#open)
      this.#result({ role: "tool", call, tool, value: "the call was not made", error: true });
    this.#results = undefined;
  }

  #answer(message: Answer): void {
    const { from, prefix } = this.#target;
    const { text, calls } = message;
    const extra = readExtra(message.extra, { from, calls: calls.length, text });
    const content: AssistantMessage["content"] = [];
    const bare: readonly ExtraPart[] = [
      { text: text.length },
      ...calls.map((call): ExtraPart => ({ call: call.id })),
    ];
    const isBound = prefix !== undefined && extra?.prefix !== prefix;
    let at = 0;
    let nth = 0;
    for (const part of extra?.parts ?? bare) {
      if ("call" in part) content.push(this.#call(calls[nth++] as ToolCall, part));
      else if ("reasoning" in part) {
        if (!isBound) content.push({ type: "reasoning", text: part.reasoning, ...optionsOf(part) });
      } else if (part.text > 0) {
        content.push({ type: "text", text: text.slice(at, at + part.text), ...optionsOf(part) });
        at += part.text;
      }
    }
    // An answer without a word and without a call cannot be sent back.
    if (content.length > 0) this.#prompt.push({ role: "assistant", content });
  }

  #call(call: ToolCall, part: Extract<ExtraPart, { call: string }>): AssistantMessage["content"][number] {
    const toolName = wireName(call.tool);
    this.#open.set(call.id, { id: part.call, tool: toolName });
    // Arguments that are no object were not JSON; providers take only objects back.
    const input = isObject(call.args) ? call.args : { arguments: call.args };
    return { type: "tool-call", toolCallId: part.call, toolName, input, ...optionsOf(part) };
  }

  #result({ call, value, error }: Result): void {
    const open = this.#open.get(call);
    if (open === undefined) return;
    this.#open.delete(call);
    if (this.#results === undefined) {
      this.#results = { role: "tool", content: [] };
      this.#prompt.push(this.#results);
    }
    this.#results.content.push({
      type: "tool-result",
      toolCallId: open.id,
      toolName: open.tool,
      output: error
        ? { type: "error-json", value: { tool_error: value } as never }
        : { type: "json", value: { tool_output: value } as never },
    });
  }
}

const optionsOf = ({ options }: ExtraPart): { readonly providerOptions?: never } =>
  options === undefined ? {} : { providerOptions: options as never };

/** The same said in words, for a request without tools. */
function plainMessage(message: RequestMessage): LanguageModelV4Message {
  if (message.role === "user") return { role: "user", content: [{ type: "text", text: message.text }] };
  if (message.role === "tool") {
    const fenced: JsonObject = message.error ? { tool_error: message.value } : { tool_output: message.value };
    const text = `Result of ${message.tool}: ${JSON.stringify(fenced)}`;
    return { role: "user", content: [{ type: "text", text }] };
  }
  const calls = message.calls.map(({ tool, args }) => `(Called ${tool} with ${JSON.stringify(args)}.)`);
  const text = [...(message.text === "" ? [] : [message.text]), ...calls].join("\n");
  return { role: "assistant", content: [{ type: "text", text: text === "" ? "(No answer.)" : text }] };
}
