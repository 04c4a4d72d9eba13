// The scripted model, tools and people. Where a script stands is derived from the journal (each call knows
// how many came before it), so a killed and resumed run goes on where it was, and a fork where its prefix
// ended.

import type { Json } from "../../base/json.ts";
import type { ModelReply, ToolCall } from "../../core/facts.ts";
import type { EventInput } from "../../core/input.ts";
import type { ModelRequest } from "../../core/request.ts";
import { SET_ARTIFACT, TRANSITION } from "../../core/reserved.ts";
import type { Run } from "../../core/run.ts";
import { type CallContext, type Clock, Fault, type ModelPort, type ToolPort } from "../../engine/ports.ts";
import type { Response, Script, ToolResponse } from "./read-script.ts";

export function scriptedModel(script: Script, clock: Clock): ModelPort {
  return {
    async call(request, context) {
      context.trace?.note({ provider: "script", model: "script" });
      const { state, prompt, part } = context;
      const inPart = part === undefined ? undefined : own(script.steps, part);
      const all = inPart ?? own(script.states, state) ?? own(script.prompts, prompt);
      const list = all?.filter(({ when }) => when === undefined || taskOf(request).includes(when));
      if (list === undefined || list.length === 0) {
        const place = part === undefined ? `state \`${state}\`` : `step \`${part}\` of state \`${state}\``;
        throw new Fault("script_missing", `the script has no answer for ${place}`, { retry: "never" });
      }
      const response = entryFor(list, context);
      await clock.sleep(response.delay_ms ?? 0, context.signal);
      return replyOf(response, context.step);
    },
  };
}

/** A conversation begins with the run's task (S24). */
function taskOf({ messages: [first] }: ModelRequest): string {
  return first?.role === "user" ? first.text : "";
}

/** Tools the script knows; every other name goes to `others`. */
export function scriptedTools(script: Script, clock: Clock, others: ToolPort): ToolPort {
  const knows = (tool: string) => own(script.tools, tool) !== undefined;
  return {
    knows: (tool) => knows(tool) || others.knows(tool),
    // A scripted result can be read out again; nothing happens outside.
    isSafe: (tool) => knows(tool) || others.isSafe(tool),
    async call(tool, args, context) {
      const list = own(script.tools, tool);
      if (list === undefined) return others.call(tool, args, context);
      const response: ToolResponse = entryFor(list, context);
      await clock.sleep(response.delay_ms ?? 0, context.signal);
      if (response.error !== undefined) return { ok: false, code: "tool_error", message: response.error };
      return { ok: true, value: response.ok ?? null };
    },
    async stop(tool, context) {
      if (!knows(tool)) await others.stop?.(tool, context);
    },
  };
}

/** The event the script's people send to a run that waits in its state; undefined when they are silent. */
export function scriptedEvent(script: Script, run: Run, at: number): EventInput | undefined {
  const state = run.state ?? "";
  const list = own(script.events, state) ?? [];
  const taken = Object.hasOwn(run.eventsByState, state) ? (run.eventsByState[state] as number) : 0;
  const entry = list[Math.min(taken, list.length - 1)];
  if (entry === undefined) return undefined;
  const { event, by, context, artifacts } = entry;
  return {
    type: "event",
    at,
    name: event,
    by: by ?? "script",
    ...(context !== undefined && { context }),
    ...(artifacts !== undefined && { artifacts }),
  };
}

/** For a tool nobody bound: a result that says so, and the model can go on. */
export const noTools: ToolPort = {
  knows: () => false,
  isSafe: () => true,
  call: async (tool) => ({
    ok: false,
    code: "unbound",
    message: `no script entry and no binding for tool \`${tool}\``,
  }),
};

/**
 * The entry for a call. Entries that only fail are attempts before the one they stand in front of; the last
 * entry repeats.
 */
function entryFor<T extends Response | ToolResponse>(list: readonly T[], { nth, attempt }: CallContext): T {
  const good = list.flatMap((entry, index) => (entry.fail === undefined ? [index] : []));
  const target = good[Math.min(nth, good.length - 1)] ?? list.length;
  const first = nth < good.length ? (good[nth - 1] ?? -1) + 1 : target;
  const failing = list.slice(first, target)[attempt - 1];
  if (failing?.fail !== undefined) throw failure(failing.fail);
  const entry = list[target];
  if (entry === undefined) throw failure(list.at(-1)?.fail ?? {});
  return entry;
}

function failure({ status, message }: NonNullable<Response["fail"]>): Fault {
  const code = status ?? 500;
  const retry = code === 429 || code >= 500 ? "later" : "never";
  return new Fault(`http_${code}`, message ?? `the scripted provider answered ${code}`, { retry });
}

/** What a model would have said to step `step`, from an entry of a script. */
export function replyOf(response: Response, step: number): ModelReply {
  const calls: ToolCall[] = [];
  const add = (tool: string, args: Json) => calls.push({ id: `${step}.${calls.length + 1}`, tool, args });
  for (const { tool, args } of response.calls ?? []) add(tool, args ?? {});
  for (const [name, value] of Object.entries(response.artifacts ?? {})) add(SET_ARTIFACT, { name, value });
  if (response.event !== undefined) {
    add(TRANSITION, {
      event: response.event,
      ...(response.context !== undefined && { context: response.context }),
    });
  }
  const { input_tokens, output_tokens, cost_usd } = response.usage ?? {};
  return {
    text: response.text ?? (response.json === undefined ? "" : JSON.stringify(response.json)),
    calls,
    usage: { inputTokens: input_tokens ?? 0, outputTokens: output_tokens ?? 0, costUsd: cost_usd ?? 0 },
  };
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
