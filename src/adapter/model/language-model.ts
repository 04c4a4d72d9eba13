// A model of the AI SDK as the engine's model port. It is called directly: rounds, retries and the record of
// them are the engine's.

import type { LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";
import type { Json, JsonObject } from "../../base/json.ts";
import type { ModelReply } from "../../core/facts.ts";
import type { ModelRequest } from "../../core/request.ts";
import { type CallContext, Fault, type ModelPort } from "../../engine/ports.ts";
import { Deadline } from "./deadline.ts";
import { Gathering } from "./gathering.ts";
import { modelFault } from "./model-fault.ts";
import type { Price } from "./price-list.ts";
import { type Prices, priceOf } from "./prices.ts";
import { toolNamed } from "./tool-names.ts";
import { usageOf } from "./usage.ts";
import { type WireCall, type WireTarget, wireCall } from "./wire-call.ts";

export type AiModel = LanguageModelV4 | LanguageModelV3;

export interface LanguageModelOptions {
  /** How long an answer may take, or be silent where it is streamed; ten minutes. */
  readonly timeoutMs?: number;
  /** Always or never streamed; else only when somebody wants to see the text come. */
  readonly stream?: boolean;
  readonly prices?: Prices;
  /** Options of the provider, by its name in the AI SDK. */
  readonly providerOptions?: JsonObject;
  /** The environment variable that holds the key, for messages. */
  readonly keyEnv?: string;
  /** Told once about each setting that the provider drops. */
  readonly warn?: (message: string) => void;
}

const TIMEOUT_MS = 600_000;

export function languageModel(given: AiModel, options: LanguageModelOptions = {}): ModelPort {
  const version: string = given.specificationVersion;
  if (version !== "v4" && version !== "v3") {
    const message = `the model speaks \`${version}\` of the AI SDK's model interface (give a v3 or v4 model)`;
    throw new Fault("no_model", message, { retry: "never" });
  }
  return new Port(given as LanguageModelV4, options);
}

class Port implements ModelPort {
  readonly #model: LanguageModelV4;
  readonly #options: LanguageModelOptions;
  readonly #target: WireTarget;
  readonly #keyEnv: string | undefined;
  readonly #price: Price | undefined;
  readonly #warned = new Set<string>();

  constructor(model: LanguageModelV4, options: LanguageModelOptions) {
    this.#model = model;
    this.#options = options;
    this.#target = targetOf(model, options.providerOptions);
    this.#keyEnv = options.keyEnv ?? usualKeyEnv(model.provider);
    this.#price = priceOf(model.modelId, options.prices);
  }

  async call(request: ModelRequest, context: CallContext): Promise<ModelReply> {
    const wire = wireCall(request, this.#target);
    const deadline = new Deadline(context.signal, this.#options.timeoutMs ?? TIMEOUT_MS);
    wire.options.abortSignal = deadline.signal;
    const { trace } = context;
    if (trace?.headers !== undefined) wire.options.headers = { ...trace.headers };
    trace?.note({ provider: this.#model.provider, model: this.#model.modelId });
    try {
      deadline.signal.throwIfAborted();
      const streams = this.#options.stream ?? context.delta !== undefined;
      const gathering = streams
        ? await this.#stream(wire, deadline, context.delta)
        : await this.#generate(wire, deadline);
      this.#report(wire, gathering);
      trace?.note(gathering.details);
      return this.#reply(request, context, wire, gathering);
    } catch (error) {
      throw this.#fault(error, deadline, context.signal);
    } finally {
      deadline.end();
    }
  }

  async #generate({ options }: WireCall, deadline: Deadline): Promise<Gathering> {
    const gathering = new Gathering();
    const result = await deadline.bound(this.#model.doGenerate(options));
    for (const part of result.content) gathering.add(part);
    gathering.finish = result.finishReason;
    gathering.usage = result.usage;
    gathering.warnings = result.warnings;
    gathering.source = result.response;
    return gathering;
  }

  async #stream(
    { options }: WireCall,
    deadline: Deadline,
    delta: ((text: string) => void) | undefined,
  ): Promise<Gathering> {
    const gathering = new Gathering();
    const { stream } = await deadline.bound(this.#model.doStream(options));
    const reader = stream.getReader();
    // Also ends the wait for a stream that does not heed the signal.
    const cancel = () => void reader.cancel(deadline.signal.reason).catch(ignored);
    deadline.signal.addEventListener("abort", cancel, { once: true });
    let isWhole = false;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        deadline.again();
        const text = gathering.take(value);
        if (text !== "") delta?.(text);
      }
      deadline.signal.throwIfAborted();
      isWhole = true;
    } finally {
      deadline.signal.removeEventListener("abort", cancel);
      // An answer that is given up must not go on coming.
      if (!isWhole) cancel();
    }
    return gathering;
  }

  #reply(
    { tools, messages, system }: ModelRequest,
    { step }: CallContext,
    { prefix }: WireCall,
    gathering: Gathering,
  ): ModelReply {
    const { text } = gathering;
    const calls = gathering.calls(step, (name) => toolNamed(name, tools));
    this.#judge(gathering, text === "" && calls.length === 0);
    const texts = {
      input: () => system + JSON.stringify(messages),
      output: () => text + JSON.stringify(calls),
    };
    const usage = usageOf(gathering.usage, this.#price, texts);
    const extra = gathering.extra(this.#target.from, prefix) as Json | undefined;
    return { text, calls, usage, ...(extra !== undefined && { extra }) };
  }

  /** Answers that are none: refused, cut off, broken. */
  #judge({ finish }: Gathering, isEmpty: boolean): void {
    const { modelId } = this.#model;
    const give = (code: string, message: string, retry: "later" | "never"): never => {
      throw new Fault(code, `\`${modelId}\` ${message}`, { retry });
    };
    const reason = finish?.unified;
    const raw = finish?.raw === undefined ? "" : ` (${finish.raw})`;
    if (finish === undefined || reason === "interrupted")
      give("dropped", "stopped in the middle of an answer", "later");
    else if (reason === "content-filter") give("refusal", `refused to answer${raw}`, "never");
    else if (reason === "error") give("bad_response", `gave an answer that cannot be read${raw}`, "later");
    else if (finish.raw === "model_context_window_exceeded")
      give("context_length", "cannot take a conversation of this length", "never");
    else if (reason === "length" && isEmpty)
      give("max_tokens", "used up its tokens before it said anything (raise `max_tokens`)", "never");
  }

  #fault(error: unknown, deadline: Deadline, outer: AbortSignal): Fault {
    const { modelId: model } = this.#model;
    if (outer.aborted) return new Fault("aborted", "the call was given up", { retry: "never", cause: error });
    if (deadline.isOver) {
      const seconds = (this.#options.timeoutMs ?? TIMEOUT_MS) / 1000;
      const message = `\`${model}\` did not answer within ${seconds} s`;
      return new Fault("timeout", message, { retry: "later", cause: error });
    }
    return modelFault(error, { model, keyEnv: this.#keyEnv, now: Date.now() });
  }

  #report({ unknown }: WireCall, { warnings }: Gathering): void {
    const { warn } = this.#options;
    if (warn === undefined || (unknown.length === 0 && warnings.length === 0)) return;
    const { modelId } = this.#model;
    const messages = [
      ...unknown.map((name) => `parameter \`${name}\` is not sent to \`${modelId}\``),
      ...warnings.map((warning) => `\`${modelId}\`: ${warningText(warning)}`),
    ];
    for (const message of messages) {
      if (this.#warned.has(message)) continue;
      this.#warned.add(message);
      warn(message);
    }
  }
}

function targetOf(model: LanguageModelV4, own: JsonObject | undefined): WireTarget {
  const { provider, modelId } = model;
  const isClaude = /anthropic|claude/i.test(`${provider}/${modelId}`);
  const thinking = (own?.["anthropic"] as JsonObject | undefined)?.["thinking"] as JsonObject | undefined;
  return {
    from: `${provider}/${modelId}`,
    model: modelId,
    // Newer ones check it and refuse a request whose reasoning was made under another system text. Where a
    // budget of thinking is set, which only older ones have, an answer with calls must come with its own.
    bindsReasoning: isClaude && thinking?.["type"] !== "enabled",
    providerOptions: withDefaults(provider, own),
  };
}

/** Nothing a run needs is left with the provider, where it is deleted some day: the journal has it all. */
function withDefaults(provider: string, own: JsonObject | undefined): JsonObject | undefined {
  if (!provider.startsWith("openai.responses")) return own;
  return { ...own, openai: { store: false, ...(own?.["openai"] as JsonObject | undefined) } };
}

function usualKeyEnv(provider: string): string | undefined {
  if (provider.startsWith("anthropic")) return "ANTHROPIC_API_KEY";
  if (provider.startsWith("openai")) return "OPENAI_API_KEY";
  return provider.startsWith("google.generative") ? "GOOGLE_GENERATIVE_AI_API_KEY" : undefined;
}

function warningText(warning: unknown): string {
  const { feature, setting, details, message } = warning as Readonly<Record<string, string | undefined>>;
  return message ?? [feature ?? setting, details].filter((one) => one !== undefined).join(": ");
}

/** The stream is given up; that it cannot be closed in order changes nothing. */
function ignored(): void {}
