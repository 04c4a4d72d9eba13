// Puts an answer together from its parts, streamed or whole, in the order the model gave them.

import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4ResponseMetadata,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { Json, JsonObject } from "../../base/json.ts";
import type { ToolCall } from "../../core/facts.ts";
import { type CallDetails, Fault } from "../../engine/ports.ts";
import type { Extra, ExtraPart } from "./extra.ts";

interface Gathered {
  readonly kind: "text" | "reasoning" | "call";
  /** The text, or the arguments of the call as they came. */
  text: string;
  options: JsonObject | undefined;
  readonly id: string;
  readonly tool: string;
}

/** An answer longer than this is given up: a model that cannot stop must not fill memory and journal. */
const ANSWER_MAX = 1_000_000;

export class Gathering {
  finish: LanguageModelV4FinishReason | undefined;
  usage: LanguageModelV4Usage | undefined;
  warnings: readonly unknown[] = [];
  /** Who gave the answer, where the provider says it. */
  source: LanguageModelV4ResponseMetadata | undefined;
  readonly #parts: Gathered[] = [];
  readonly #growing = new Map<string, Gathered>();
  #size = 0;

  /** Text that just came, to be shown. */
  take(part: LanguageModelV4StreamPart): string {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#growing.set(part.id, this.#begin(part.type === "text-start" ? "text" : "reasoning", part));
        return "";
      case "text-delta":
        return this.#grow("text", part);
      case "reasoning-delta":
        this.#grow("reasoning", part);
        return "";
      case "text-end":
      case "reasoning-end":
        mark(this.#growing.get(part.id), part.providerMetadata);
        this.#growing.delete(part.id);
        return "";
      case "tool-call":
        this.add(part);
        return "";
      case "response-metadata":
        this.source = part;
        return "";
      case "stream-start":
        this.warnings = part.warnings;
        return "";
      case "finish":
        this.finish = part.finishReason;
        this.usage = part.usage;
        return "";
      case "error":
        throw new Error("the provider reported an error", { cause: part.error });
      default:
        return "";
    }
  }

  add(part: LanguageModelV4Content): void {
    if (part.type === "text" || part.type === "reasoning") {
      this.#begin(part.type, part).text = part.text;
      this.#count(part.text.length);
    } else if (part.type === "tool-call" && part.providerExecuted !== true) {
      const call = this.#begin("call", part, { id: part.toolCallId, tool: part.toolName });
      call.text = part.input;
      this.#count(part.input.length);
    }
  }

  /** For whoever watches. */
  get details(): CallDetails {
    const { cacheRead, cacheWrite } = this.usage?.inputTokens ?? {};
    const { reasoning } = this.usage?.outputTokens ?? {};
    return {
      ...(this.finish !== undefined && { finishReason: this.finish.unified }),
      ...(this.source?.modelId !== undefined && { responseModel: this.source.modelId }),
      ...(this.source?.id !== undefined && { responseId: this.source.id }),
      ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
      ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
      ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    };
  }

  get text(): string {
    let text = "";
    for (const part of this.#parts) if (part.kind === "text") text += part.text;
    return text;
  }

  /** Named by the step: no two calls of a run have one name, whatever the provider calls them. */
  calls(step: number, toolOf: (name: string) => string): readonly ToolCall[] {
    const calls = this.#parts.filter((part) => part.kind === "call");
    return calls.map(({ tool, text }, index) => {
      return { id: `call_${step}_${index + 1}`, tool: toolOf(tool), args: argumentsOf(text) };
    });
  }

  /** Only an answer with calls is followed by a request that needs it. */
  extra(from: string, prefix: string | undefined): Extra | undefined {
    if (!this.#parts.some((part) => part.kind === "call")) return undefined;
    const parts = this.#parts.map((part): ExtraPart => {
      const marks = part.options === undefined ? {} : { options: part.options };
      if (part.kind === "text") return { text: part.text.length, ...marks };
      return part.kind === "reasoning" ? { reasoning: part.text, ...marks } : { call: part.id, ...marks };
    });
    return prefix === undefined ? { from, parts } : { from, prefix, parts };
  }

  #begin(
    kind: Gathered["kind"],
    { providerMetadata }: { readonly providerMetadata?: unknown },
    call: { readonly id: string; readonly tool: string } = { id: "", tool: "" },
  ): Gathered {
    const part: Gathered = { kind, text: "", options: undefined, ...call };
    mark(part, providerMetadata);
    this.#parts.push(part);
    return part;
  }

  #grow(
    kind: "text" | "reasoning",
    part: { readonly id: string; readonly delta: string; readonly providerMetadata?: unknown },
  ): string {
    let growing = this.#growing.get(part.id);
    if (growing === undefined) {
      growing = this.#begin(kind, {});
      this.#growing.set(part.id, growing);
    }
    growing.text += part.delta;
    mark(growing, part.providerMetadata);
    this.#count(part.delta.length);
    return part.delta;
  }

  #count(length: number): void {
    this.#size += length;
    if (this.#size <= ANSWER_MAX) return;
    const message = `the model's answer is longer than ${ANSWER_MAX} characters (set \`max_tokens\`)`;
    throw new Fault("too-large", message, { retry: "never" });
  }
}

/** Later marks of a part complete earlier ones. */
function mark(part: Gathered | undefined, metadata: unknown): void {
  if (part === undefined || metadata === undefined || metadata === null) return;
  // Providers leave `undefined` in them, which is no JSON.
  const added = JSON.parse(JSON.stringify(metadata)) as JsonObject;
  part.options = part.options === undefined ? added : merged(part.options, added);
}

function merged(before: JsonObject, added: JsonObject): JsonObject {
  const all: Record<string, Json> = { ...before };
  for (const [provider, marks] of Object.entries(added))
    all[provider] = { ...(all[provider] as JsonObject | undefined), ...(marks as JsonObject) };
  return all;
}

/** What is no JSON stays text: the check of the arguments then tells the model so. */
function argumentsOf(text: string): Json {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
