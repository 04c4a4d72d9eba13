// What a model is sent: a pure function of program and run, so the debugger can show it for any turn and a
// resumed run asks exactly what the lost call asked.

import { must } from "../base/assert.ts";
import { type Json, type JsonObject, put } from "../base/json.ts";
import { kept } from "../base/kept.ts";
import { itemsOf } from "../base/log.ts";
import { sha256Of } from "../base/sha256.ts";
import type { ModelAsk, ToolCall } from "./facts.ts";
import { type OfferedTool, offeredTools, parametersFor } from "./offered-tools.ts";
import type { Program, PromptSpec } from "./program.ts";
import { renderPrompt } from "./render.ts";
import { type ArtifactValue, artifactValue, type Message, type Run } from "./run.ts";

export interface ModelRequest {
  /** Key of `requires.providers`, or `default`. */
  readonly provider: string;
  readonly system: string;
  readonly messages: readonly RequestMessage[];
  readonly tools: readonly OfferedTool[];
  readonly toolChoice: "auto" | "required" | "none";
  readonly parameters: JsonObject;
  /** What is different for certain models, by their name; whoever calls one of them applies its own. */
  readonly overrides?: Readonly<Record<string, RequestOverride>>;
}

export interface RequestOverride {
  readonly system: string;
  readonly parameters: JsonObject;
}

export type RequestMessage =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ToolCall[];
      readonly extra?: Json;
    }
  | {
      readonly role: "tool";
      readonly call: string;
      readonly tool: string;
      readonly value: Json;
      readonly error: boolean;
    };

/** How much of the SHA-256 is kept: enough to tell any two requests apart, and short in every journal row. */
export const HASH_LENGTH = 32;

/** What is hashed of a request: its JSON. The same program and run give the same text. */
export function requestText({ provider, system, messages, tools, ...rest }: ModelRequest): string {
  const told = JSON.stringify({ provider, system, messages });
  const offered = kept(toolsTexts, tools, () => JSON.stringify(tools));
  return `${told.slice(0, -1)},"tools":${offered},${JSON.stringify(rest).slice(1)}`;
}

/** Tools are most of a request and the same in every round. */
const toolsTexts = new WeakMap<readonly OfferedTool[], string>();

export const requestHash = (request: ModelRequest): string =>
  sha256Of(requestText(request)).slice(0, HASH_LENGTH);

export function modelRequest(program: Program, run: Run, ask: ModelAsk): ModelRequest {
  const prompt = must(program.prompts[run.prompt], "the run's prompt exists");
  const packTools = ask.tools && prompt.toolChoice !== "none";
  const all = offeredTools(program, { prompt: run.prompt, state: run.state, host: run.host });
  const isOffered = ({ kind }: OfferedTool): boolean => packTools || kind === "workflow";
  const tools = all.every(isOffered) ? all : all.filter(isOffered);
  return {
    provider: prompt.provider,
    system: systemText(program, run),
    messages: messagesOf(run),
    tools,
    toolChoice: choiceOf(prompt, run, tools),
    parameters: prompt.parameters,
    ...overridesOf(program, run, prompt),
  };
}

function overridesOf(program: Program, run: Run, prompt: PromptSpec): Pick<ModelRequest, "overrides"> {
  const models = Object.keys(prompt.modelOverrides);
  if (models.length === 0) return {};
  const overrides: Record<string, RequestOverride> = {};
  for (const model of models) {
    const parameters = parametersFor(prompt, model);
    put(overrides, model, { system: systemText(program, run, model), parameters });
  }
  return { overrides };
}

/** The present prompt with everything filled in. */
export function systemText(program: Program, run: Run, model?: string): string {
  const { prompt, variables, artifacts, context: workflowContext } = run;
  const artifactOf = (name: string): Json | undefined => {
    return Object.hasOwn(artifacts, name) ? artifactValue(artifacts[name] as ArtifactValue) : undefined;
  };
  const values = { prompt, variables, artifactOf, workflowContext };
  return renderPrompt(program, model === undefined ? values : { ...values, model }).text;
}

/** `required` holds until the first call of the visit, or a model could never stop calling. */
function choiceOf(prompt: PromptSpec, run: Run, tools: readonly OfferedTool[]): ModelRequest["toolChoice"] {
  if (tools.length === 0) return "none";
  return prompt.toolChoice === "required" && run.visitCalls === 0 ? "required" : "auto";
}

/** S25: the results of one answer stand in the order of its calls, whatever order they arrived in. */
export function messagesOf(run: Run): readonly RequestMessage[] {
  const messages: RequestMessage[] = [];
  // Without a workflow no visit opens the conversation.
  if (run.state === null) messages.push({ role: "user", text: openingText(run, soleOpening) });
  let pending: { calls: readonly ToolCall[]; results: Extract<Message, { role: "result" }>[] } | undefined;
  const flush = () => {
    for (const call of pending?.calls ?? []) {
      const result = pending?.results.find((one) => one.call === call.id);
      if (result !== undefined)
        messages.push({
          role: "tool",
          call: call.id,
          tool: call.tool,
          value: result.value,
          error: result.error,
        });
    }
    pending = undefined;
  };
  for (const message of itemsOf(run.conversation)) {
    if (message.role === "result") pending?.results.push(message);
    else {
      flush();
      if (message.role === "assistant") {
        const { text, calls, extra } = message;
        messages.push({ role: "assistant", text, calls, ...(extra !== undefined && { extra }) });
        pending = { calls: message.calls, results: [] };
      } else
        messages.push({
          role: "user",
          text: message.role === "opening" ? openingText(run, message) : message.text,
        });
    }
  }
  flush();
  return messages;
}

const soleOpening = { role: "opening", fresh: true, cause: null, context: "" } as const;

/** S24: the task is never lost by a reset, and the state knows what led to it. */
function openingText(run: Run, { fresh, cause, context }: Extract<Message, { role: "opening" }>): string {
  const parts: string[] = [];
  if (fresh && run.input !== "") parts.push(run.input);
  if (cause !== null) parts.push(`(The workflow came here from ${cause.from} by the event ${cause.event}.)`);
  // Quoted: what one model said must not pass for a word of the workflow to the next.
  if (context !== "") parts.push(`It was given this context:\n> ${context.replaceAll("\n", "\n> ")}`);
  return parts.length === 0 ? "Begin." : parts.join("\n\n");
}
