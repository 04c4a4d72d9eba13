// One AG-UI run: a stretch of one of ours from where somebody came in to its next wait or its end. Turns and
// streamed text go in, events come out, in an order the protocol's own checker accepts.

import type { Operation } from "fast-json-patch";
import type { Json, JsonObject } from "../../base/json.ts";
import { itemsOf } from "../../base/log.ts";
import { applyTurn } from "../../core/apply.ts";
import type { Answered, Ask, Fact, ModelReply, ToolCall, TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import { shownResult } from "../../core/shown-result.ts";
import type { Delta } from "../../engine/ports.ts";
import type { BlobRef } from "../blob-book.ts";
import { callId, messageId, messagesFor, resultId, stateOf, textOf } from "./snapshots.ts";

export type AguiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface StretchOptions {
  readonly id: string;
  /** What the client calls the conversation. */
  readonly threadId: string;
  /** The run as it stands before the first turn of the stretch. */
  readonly run: Run;
  readonly compare: (before: JsonObject, after: JsonObject) => Operation[];
  /** Where a large result of a step is found; undefined for what is sent along. */
  readonly refer: (place: ResultPlace, value: Json) => BlobRef | undefined;
}

interface ResultPlace {
  readonly turn: number;
  readonly step: number;
}

interface Result {
  readonly value: Json;
  readonly error: boolean;
  readonly blob?: BlobRef | undefined;
}

interface Spoken {
  readonly messageId: string;
  readonly step: number;
  readonly attempt: number;
  text: string;
}

export class Stretch {
  readonly #options: StretchOptions;
  readonly #runId: string;
  #run: Run;
  #state: JsonObject;
  #step: string | undefined;
  #spoken: Spoken | undefined;
  /** The model's names for the calls of its last answer, and ours. */
  #calls = new Map<string, string>();

  constructor(options: StretchOptions) {
    const { id, run } = options;
    this.#options = options;
    this.#runId = `${id}.${run.turn}`;
    this.#run = run;
    this.#state = stateOf(id, run);
    const last = itemsOf(run.conversation).findLast(({ role }) => role === "assistant");
    if (last?.role === "assistant") this.#remember(last.step, last.calls);
  }

  get run(): Run {
    return this.#run;
  }

  /** Our id of a call that is open. */
  callOf(call: string): string | undefined {
    return this.#calls.get(call);
  }

  *begin(): Generator<AguiEvent> {
    const { id, threadId, run } = this.#options;
    const { forkedFrom } = run;
    const parent = forkedFrom === null ? {} : { parentRunId: `${forkedFrom.run}.${forkedFrom.turn}` };
    const metadata = {
      run: id,
      ...(forkedFrom !== null && { forked_from: forkedFrom }),
      ...(run.parent !== null && { parent: run.parent }),
    };
    yield { type: "RUN_STARTED", threadId, runId: this.#runId, ...parent, metadata };
    yield { type: "STATE_SNAPSHOT", snapshot: this.#state };
    if (run.turn > 0) yield this.#messages();
    if (run.state !== null && run.final === null) yield* this.#enter(run.state, run.visits[run.state] ?? 1);
  }

  /** Streamed text. A second attempt is another message: what the first one said does not count. */
  *delta({ step, attempt, text }: Delta): Generator<AguiEvent> {
    if (this.#spoken !== undefined && (this.#spoken.step !== step || this.#spoken.attempt !== attempt))
      yield* this.#endText();
    if (this.#spoken === undefined) {
      const own = messageId(this.#options.id, step);
      const id = attempt === 1 ? own : `${own}~${attempt}`;
      this.#spoken = { messageId: id, step, attempt, text: "" };
      yield { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" };
    }
    this.#spoken.text += text;
    yield { type: "TEXT_MESSAGE_CONTENT", messageId: this.#spoken.messageId, delta: text };
  }

  *turn(row: TurnRow): Generator<AguiEvent> {
    const asks = new Map<number, Ask>();
    for (const [step, { ask }] of Object.entries(this.#run.open)) asks.set(Number(step), ask);
    this.#run = applyTurn(this.#run, row);
    for (const fact of row.facts) {
      if (fact.type === "asked") asks.set(fact.step, fact.ask);
      yield* this.#fact(fact, asks, row);
    }
    const state = stateOf(this.#options.id, this.#run);
    const delta = this.#options.compare(this.#state, state);
    this.#state = state;
    if (delta.length > 0) yield { type: "STATE_DELTA", delta };
  }

  *#fact(fact: Fact, asks: ReadonlyMap<number, Ask>, row: TurnRow): Generator<AguiEvent> {
    switch (fact.type) {
      case "entered":
        yield* this.#enter(fact.state, fact.visit);
        return;
      case "answered":
        yield* this.#answered(fact, asks.get(fact.step), row);
        return;
      case "noted":
        if (fact.what === "result") yield* this.#result(fact.call, { value: fact.result, error: fact.error });
        return;
      default:
        return;
    }
  }

  *#answered({ step, outcome }: Answered, ask: Ask | undefined, row: TurnRow): Generator<AguiEvent> {
    if (ask?.kind === "model") {
      if (!outcome.ok) yield* this.#endText();
      else yield* this.#reply(step, outcome.value as unknown as ModelReply, row.facts);
    }
    // A call that was approved is still to be made; one that was rejected has its result.
    const isCall = ask?.kind === "tool" || ask?.kind === "agent" || (ask?.kind === "approval" && !outcome.ok);
    if (isCall) {
      const value = outcome.ok ? outcome.value : `${outcome.code}: ${outcome.message}`;
      const blob = outcome.ok ? this.#options.refer({ turn: row.turn, step }, value) : undefined;
      yield* this.#result(ask.call, { value, error: !outcome.ok, blob });
    }
  }

  /** What a model said. What was streamed of it is finished; if it was something else, all is told anew. */
  *#reply(step: number, reply: ModelReply, turn: readonly Fact[]): Generator<AguiEvent> {
    const own = messageId(this.#options.id, step);
    const text = guarded(turn) ?? reply.text;
    const spoken = this.#spoken;
    const fits = spoken?.messageId === own && text.startsWith(spoken.text);
    if (spoken === undefined && text !== "") yield* this.delta({ run: "", step, attempt: 1, text });
    else if (spoken !== undefined && fits && text.length > spoken.text.length)
      yield* this.delta({ run: "", step, attempt: spoken.attempt, text: text.slice(spoken.text.length) });
    yield* this.#endText();
    this.#remember(step, reply.calls);
    for (const { id, tool, args } of reply.calls) {
      const toolCallId = callId(this.#options.id, step, id);
      yield { type: "TOOL_CALL_START", toolCallId, toolCallName: tool, parentMessageId: own };
      yield { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(args) };
      yield { type: "TOOL_CALL_END", toolCallId };
    }
    if (spoken !== undefined && !fits) yield this.#messages();
  }

  /** Of a large one comes what snapshots show of it as well, and where the rest is. */
  *#result(call: string, { value, error, blob }: Result): Generator<AguiEvent> {
    const toolCallId = this.#calls.get(call);
    if (toolCallId === undefined) return;
    const metadata = { ...(error && { error: true }), ...(blob !== undefined && { blob }) };
    yield {
      type: "TOOL_CALL_RESULT",
      messageId: resultId(toolCallId),
      toolCallId,
      content: textOf(blob === undefined ? value : shownResult(value)),
      role: "tool",
      ...(Object.keys(metadata).length > 0 && { metadata }),
    };
  }

  /** Everything that is open is closed before the last event. */
  *end(last: AguiEvent): Generator<AguiEvent> {
    yield* this.#endText();
    yield* this.#leave();
    yield { type: "STATE_SNAPSHOT", snapshot: this.#state };
    yield this.#messages();
    const { threadId } = this.#options;
    yield last.type === "RUN_FINISHED" ? { ...last, threadId, runId: this.#runId } : last;
  }

  #messages(): AguiEvent {
    return { type: "MESSAGES_SNAPSHOT", messages: messagesFor(this.#options.id, this.#run) };
  }

  *#enter(state: string, visit: number): Generator<AguiEvent> {
    yield* this.#leave();
    this.#step = `${state} (${visit})`;
    yield { type: "STEP_STARTED", stepName: this.#step };
  }

  *#leave(): Generator<AguiEvent> {
    if (this.#step !== undefined) yield { type: "STEP_FINISHED", stepName: this.#step };
    this.#step = undefined;
  }

  *#endText(): Generator<AguiEvent> {
    if (this.#spoken !== undefined) yield { type: "TEXT_MESSAGE_END", messageId: this.#spoken.messageId };
    this.#spoken = undefined;
  }

  #remember(step: number, calls: readonly ToolCall[]): void {
    this.#calls = new Map(calls.map(({ id }) => [id, callId(this.#options.id, step, id)]));
  }
}

/** What a validator left of what the model said. */
function guarded(turn: readonly Fact[]): string | undefined {
  for (const fact of turn)
    if (fact.type === "noted" && fact.what === "guarded" && fact.direction === "output") return fact.text;
  return undefined;
}
