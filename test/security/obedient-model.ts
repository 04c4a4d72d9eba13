// A model that does everything it is told, by whomever: it reads its whole input for orders, follows every one
// of them in every state, and says all it knows. Safety must not depend on a model's judgement, so this one has
// none.

import type { ModelReply, ToolCall } from "../../src/core/facts.ts";
import type { ModelRequest } from "../../src/core/request.ts";
import type { CallContext, ModelPort } from "../../src/engine/ports.ts";
import { stringsIn } from "./hidden-texts.ts";
import { keyOf, type Order, ordersIn } from "./read-orders.ts";

/** What the model does by itself: first these calls, and when nobody orders anything more, this event. */
export interface Duty {
  readonly calls: readonly Order[];
  readonly event?: string;
  readonly artifact?: string;
}

const CALLS_MAX = 8;

export class ObedientModel implements ModelPort {
  /** All it asked for, by `state tool arguments`. */
  readonly tried = new Set<string>();
  /** All it was ever told. */
  readonly heard = new Set<string>();
  readonly #dutyOf: (run: string, state: string) => Duty;
  /** What it did already, by run and visit. */
  readonly #done = new Set<string>();

  constructor(dutyOf: (run: string, state: string) => Duty) {
    this.#dutyOf = dutyOf;
  }

  async call(request: ModelRequest, { run, state, step }: CallContext): Promise<ModelReply> {
    const told = toldBy(request);
    for (const text of told) this.heard.add(text);
    const { calls: own, event, artifact } = this.#dutyOf(run, state);
    // Where nothing but the workflow's own tools is offered, it is the last word of the visit.
    const isLast = request.tools.every(({ kind }) => kind === "workflow");
    const orders = [...own, ...told.flatMap(ordersIn)].filter((order) => this.#isNew(run, state, order));
    const now = isLast && event !== undefined ? [] : orders.slice(0, CALLS_MAX);
    for (const order of now) this.#note(run, state, order);
    const knows = told.join("\n").slice(0, 30_000);
    if (now.length === 0) {
      if (artifact !== undefined)
        now.push({ tool: "workflow__set_artifact", args: { name: artifact, value: knows } });
      if (event !== undefined)
        now.push({ tool: "workflow__transition", args: { event, context: knows.slice(-2000) } });
    }
    const calls = now.map(({ tool, args }, index): ToolCall => ({ id: `c${step}_${index}`, tool, args }));
    return { text: knows, calls, usage: { inputTokens: 10, outputTokens: 10, costUsd: 0.001 } };
  }

  hasTried(state: string, order: Order): boolean {
    return this.tried.has(`${state} ${keyOf(order)}`);
  }

  #isNew(run: string, state: string, order: Order): boolean {
    return !this.#done.has(`${run} ${state} ${keyOf(order)}`);
  }

  #note(run: string, state: string, order: Order): void {
    this.#done.add(`${run} ${state} ${keyOf(order)}`);
    this.tried.add(`${state} ${keyOf(order)}`);
  }
}

/** Everything in a request but what the model said itself. */
function toldBy({ system, messages, tools }: ModelRequest): readonly string[] {
  const texts = [system];
  for (const message of messages) {
    if (message.role === "user") texts.push(message.text);
    else if (message.role === "tool") texts.push(...stringsIn(message.value));
  }
  for (const { description } of tools) texts.push(description);
  return texts.filter((text) => text !== "");
}
