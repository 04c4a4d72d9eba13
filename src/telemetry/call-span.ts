// One attempt at a call of a model or a tool: its span, its measurements, and what travels with it.

import { type Attributes, type Context, context, type Span, SpanKind } from "@opentelemetry/api";
import { isObject } from "../base/json.ts";
import type { CallAsk, ModelReply, Outcome } from "../core/facts.ts";
import type { CallEnd, CallWatch, PlannedCall } from "../engine/observer.ts";
import {
  type CallDetails,
  type CallPart,
  type CallTrace,
  Fault,
  type ToolAnswer,
  type TraceHeaders,
} from "../engine/ports.ts";
import type { Content } from "./content.ts";
import { METRICS } from "./metric-list.ts";
import type { Labels, MetricRegistry } from "./metric-registry.ts";
import { ATTR, CONTENT, finishReason, OPERATIONS, OWN, PARAMETERS, providerName } from "./names.ts";
import { markFailed } from "./segment.ts";
import { type SpanStart, startSpan } from "./start-span.ts";
import { headersOf, timeOf } from "./trace-headers.ts";

export interface CallSpanTerms {
  readonly call: PlannedCall;
  /** The visit it is made in. */
  readonly parent: Context;
  readonly baggage: string | undefined;
  readonly metrics: MetricRegistry;
  /** Only where contents may leave. */
  readonly content: Content | undefined;
}

export class CallSpan implements CallWatch {
  readonly trace: CallTrace;
  readonly #terms: CallSpanTerms;
  readonly #span: Span;
  readonly #context: Context;
  #details: CallDetails = {};

  constructor(terms: CallSpanTerms) {
    const { call, parent } = terms;
    this.#terms = terms;
    const { ask } = call;
    const start = () => (ask.kind === "model" ? chatStart(call) : toolStart(call, ask));
    const { span, context: within } = startSpan(parent, call.at, start);
    this.#span = span;
    this.#context = within;
    this.#showRequest();
    this.trace = {
      headers: headersOf(this.#span.spanContext(), terms.baggage),
      note: (details) => this.#note(details),
      part: (part, request) => this.#part(part, request),
    };
  }

  within<T>(call: () => Promise<T>): Promise<T> {
    return context.with(this.#context, call);
  }

  ended({ at, givenUp, answer, error }: CallEnd): void {
    const { ask } = this.#terms.call;
    if (!this.#span.isRecording()) return this.#measured({ at, givenUp, answer, error });
    if (givenUp) this.#span.setAttribute(OWN.givenUp, true);
    else if (error !== undefined) this.#failed(error);
    else if (ask.kind === "model") this.#replied(answer as Outcome);
    else this.#answered(answer as ToolAnswer);
    this.#span.end(timeOf(at));
    this.#measured({ at, givenUp, answer, error });
  }

  #measured({ at, givenUp, answer, error }: CallEnd): void {
    if (this.#terms.call.ask.kind === "model" && !givenUp)
      this.#measure(at, answer as Outcome | undefined, error);
  }

  #note(details: CallDetails): void {
    this.#details = { ...this.#details, ...details };
    if (!this.#span.isRecording()) return;
    const { provider, model, tier } = details;
    if (provider !== undefined) this.#span.setAttribute(ATTR.provider, providerName(provider));
    if (tier !== undefined) this.#span.setAttribute(OWN.tier, tier);
    if (model === undefined) return;
    this.#span.setAttribute(ATTR.requestModel, model);
    this.#span.updateName(`${OPERATIONS.chat} ${model}`);
  }

  async #part<T>(
    { name, attributes }: CallPart,
    request: (headers: TraceHeaders | undefined) => Promise<T>,
  ): Promise<T> {
    const start = () => ({ name, kind: SpanKind.CLIENT, attributes: { ...attributes } });
    const { span, context: within } = startSpan(this.#context, Date.now(), start);
    const headers = headersOf(span.spanContext(), this.#terms.baggage);
    try {
      return await context.with(within, () => request(headers));
    } catch (error) {
      markFailed(span, errorTypeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  #showRequest(): void {
    const { content, call } = this.#terms;
    if (content === undefined || !this.#span.isRecording()) return;
    const { ask, request } = call;
    if (ask.kind !== "model") this.#span.setAttribute(CONTENT.toolArguments, content.value(ask.args));
    else if (request !== undefined)
      this.#span.setAttributes({
        [CONTENT.system]: content.system(request),
        [CONTENT.input]: content.input(request),
      });
  }

  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    markFailed(this.#span, errorTypeOf(error), this.#terms.content?.line(message));
  }

  #replied(outcome: Outcome): void {
    if (!outcome.ok) return markFailed(this.#span, outcome.code);
    const reply = outcome.value as unknown as ModelReply;
    const { responseModel, responseId, cacheReadTokens, cacheWriteTokens, reasoningTokens } = this.#details;
    const finish = finishReason(
      this.#details.finishReason ?? (reply.calls.length > 0 ? "tool_call" : "stop"),
    );
    const { usage } = reply;
    this.#span.setAttributes({
      [ATTR.finishReasons]: [finish],
      ...present(ATTR.responseModel, responseModel),
      ...present(ATTR.responseId, responseId),
      ...(usage.estimated !== true && {
        [ATTR.inputTokens]: usage.inputTokens,
        [ATTR.outputTokens]: usage.outputTokens,
      }),
      ...present(ATTR.cacheReadTokens, cacheReadTokens),
      ...present(ATTR.cacheWriteTokens, cacheWriteTokens),
      ...present(ATTR.reasoningTokens, reasoningTokens),
    });
    const { content } = this.#terms;
    if (content !== undefined && this.#span.isRecording())
      this.#span.setAttribute(CONTENT.output, content.output(reply, finish));
  }

  #answered(answer: ToolAnswer): void {
    const { content } = this.#terms;
    if ("deferred" in answer) this.#span.setAttribute(OWN.deferred, true);
    else if (!answer.ok) markFailed(this.#span, answer.code, content?.line(answer.message));
    else if (content !== undefined && this.#span.isRecording())
      this.#span.setAttribute(CONTENT.toolResult, content.value(answer.value));
  }

  /** Of what a provider gave no figures of, none are told. */
  #measure(at: number, outcome: Outcome | undefined, error: unknown): void {
    const { metrics, call } = this.#terms;
    const labels = labelsOf(this.#details, call.request?.provider ?? "");
    const failed = error === undefined ? undefined : { [ATTR.errorType]: errorTypeOf(error) };
    const asked = failed === undefined ? labels.call : { ...labels.call, ...failed };
    metrics.add(METRICS.operationDuration, Math.max(0, at - call.at) / 1000, asked);
    if (outcome?.ok !== true || !isObject(outcome.value)) return;
    const { usage } = outcome.value as unknown as ModelReply;
    if (usage.estimated === true) return;
    metrics.add(METRICS.tokenUsage, usage.inputTokens, labels.input);
    metrics.add(METRICS.tokenUsage, usage.outputTokens, labels.output);
  }
}

interface CallLabels {
  readonly call: Labels;
  readonly input: Labels;
  readonly output: Labels;
}

/** For the next call of the same model; there are few, and beyond these they are made again. */
const LABELS_MAX = 1_000;
const labelsByModel = new Map<string, CallLabels>();

function labelsOf({ provider, model, responseModel }: CallDetails, fallback: string): CallLabels {
  const key = `${provider ?? fallback}\n${model ?? ""}\n${responseModel ?? ""}`;
  const known = labelsByModel.get(key);
  if (known !== undefined) return known;
  const call = {
    [ATTR.operation]: OPERATIONS.chat,
    [ATTR.provider]: providerName(provider ?? fallback),
    ...present(ATTR.requestModel, model),
    ...present(ATTR.responseModel, responseModel),
  };
  const labels = {
    call,
    input: { ...call, [ATTR.tokenType]: "input" },
    output: { ...call, [ATTR.tokenType]: "output" },
  };
  if (labelsByModel.size >= LABELS_MAX) labelsByModel.clear();
  labelsByModel.set(key, labels);
  return labels;
}

/** Its model is known once the adapter has said it. */
function chatStart({ id, step, attempt, request, ask }: PlannedCall): SpanStart {
  const parameters = Object.entries(request?.parameters ?? {}).flatMap(([name, value]) => {
    const attribute = PARAMETERS.get(name);
    return attribute !== undefined && typeof value === "number" ? [[attribute, value]] : [];
  });
  const attributes: Attributes = {
    [ATTR.operation]: OPERATIONS.chat,
    [ATTR.provider]: request?.provider ?? "",
    [ATTR.conversation]: id,
    [OWN.step]: step,
    [OWN.attempt]: attempt,
    ...present(OWN.compositionStep, ask.part),
    ...Object.fromEntries(parameters),
  };
  return { name: OPERATIONS.chat, kind: SpanKind.CLIENT, attributes };
}

function toolStart({ id, step, attempt, run }: PlannedCall, { tool, call, part }: CallAsk): SpanStart {
  const attributes: Attributes = {
    [ATTR.operation]: OPERATIONS.tool,
    [ATTR.toolName]: tool,
    [ATTR.toolType]: "function",
    [ATTR.toolCallId]: call,
    [ATTR.conversation]: id,
    [OWN.step]: step,
    [OWN.attempt]: attempt,
    [OWN.approval]: run.gated.includes(tool) ? "given" : "not_needed",
    ...present(OWN.compositionStep, part),
  };
  return { name: `${OPERATIONS.tool} ${tool}`, kind: SpanKind.INTERNAL, attributes };
}

const present = <T extends string | number>(name: string, value: T | undefined): Record<string, T> =>
  value === undefined ? {} : { [name]: value };

/** What the adapter called it; whatever else is thrown is the tool's own error. */
const errorTypeOf = (error: unknown): string => (error instanceof Fault ? error.code : "tool_error");
