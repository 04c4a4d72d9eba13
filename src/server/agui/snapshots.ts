// A run as AG-UI shows it as a whole: its state as one object, and its conversation as messages. The ids are
// made from the run and its steps, so that whatever was streamed before has the same ones.

import type { Json, JsonObject } from "../../base/json.ts";
import { itemsOf } from "../../base/log.ts";
import { messagesOf } from "../../core/request.ts";
import { type Run, statusOf } from "../../core/run.ts";
import { artifactsOf, limitsOf, usedOf } from "../../core/summary.ts";

export function stateOf(id: string, run: Run): JsonObject {
  const { state } = run;
  return {
    run: id,
    status: statusOf(run),
    state,
    visit: state === null ? 0 : (run.visits[state] ?? 0),
    artifacts: artifactsOf(run),
    budgets: { used: { ...usedOf(run) }, limits: limitsOf(run.limits) },
  };
}

export const messageId = (run: string, step: number): string => `${run}/${step}`;

/** A model's own names for its calls repeat from answer to answer. */
export const callId = (run: string, step: number, call: string): string => `${run}/${step}/${call}`;

export const resultId = (call: string): string => `${call}/result`;

export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

export function messagesFor(id: string, run: Run): readonly JsonObject[] {
  const steps: number[] = [];
  for (const message of itemsOf(run.conversation)) if (message.role === "assistant") steps.push(message.step);
  let answers = 0;
  let step = 0;
  return messagesOf(run).map((message, index): JsonObject => {
    if (message.role === "user") return { id: `${id}/said/${index}`, role: "user", content: message.text };
    if (message.role === "tool") {
      const call = callId(id, step, message.call);
      const content = textOf(message.value);
      const error = message.error ? { error: content } : {};
      return { id: resultId(call), role: "tool", toolCallId: call, content, ...error };
    }
    step = steps[answers++] ?? 0;
    const toolCalls = message.calls.map(({ id: call, tool, args }) => ({
      id: callId(id, step, call),
      type: "function",
      function: { name: tool, arguments: JSON.stringify(args) },
    }));
    const spoken = message.text === "" ? {} : { content: message.text };
    const calls = toolCalls.length === 0 ? {} : { toolCalls };
    return { id: messageId(id, step), role: "assistant", ...spoken, ...calls };
  });
}
