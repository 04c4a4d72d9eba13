// What a model is sent: a pure function of program and run, so the debugger can show it for any turn and a
// resumed run asks exactly what the lost call asked.

import { type Json, type JsonObject, put } from "../base/json.ts";
import { kept } from "../base/kept.ts";
import { itemsOf } from "../base/log.ts";
import { sha256Of } from "../base/sha256.ts";
import type { ModelAsk, ToolCall } from "./facts.ts";
import { type OfferedTool, offeredTools, parametersFor } from "./offered-tools.ts";
import { partOf } from "./part-fold.ts";
import { offersTools, partSpec, partVariables, promptNameOf, promptOf, schemaNamed } from "./part-site.ts";
import type { Program, PromptSpec } from "./program.ts";
import { asText } from "./reference.ts";
import { type RenderedPart, type RenderedPrompt, renderPrompt } from "./render.ts";
import { type ArtifactValue, artifactValue, type Message, type Run } from "./run.ts";
import { shownResult } from "./shown-result.ts";
import { isSkillCall, withPreloaded } from "./skills.ts";

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
  const { part } = ask;
  const prompt = promptOf(program, run, part);
  const packTools = ask.tools && prompt.toolChoice !== "none";
  const all = part === undefined ? visitTools(program, run) : partTools(program, run, { part, prompt });
  const isOffered = ({ kind }: OfferedTool): boolean => packTools || kind === "workflow";
  const tools = all.every(isOffered) ? all : all.filter(isOffered);
  return {
    provider: prompt.provider,
    system: systemText(program, run, { part }),
    messages: part === undefined ? messagesOf(run) : partMessages(run, part),
    tools,
    toolChoice: choiceOf(prompt, run, { tools, part }),
    parameters: prompt.parameters,
    ...overridesOf(program, run, { prompt, part }),
  };
}

const visitTools = (program: Program, { prompt, state, host }: Run): readonly OfferedTool[] =>
  offeredTools(program, { prompt, state, host });

interface PartPlace {
  readonly prompt: PromptSpec;
  readonly part: string;
}

/** A part that may call nothing is not offered the reserved tools either: it has one answer. */
function partTools(program: Program, run: Run, { part, prompt }: PartPlace): readonly OfferedTool[] {
  if (!offersTools(prompt)) return NO_TOOLS;
  const { host, state } = run;
  return offeredTools(program, {
    prompt: promptNameOf(run, part),
    state,
    host,
    part,
    tools: prompt.tools,
  });
}

const NO_TOOLS: readonly OfferedTool[] = [];

/** A part of a composition is told its input, and hears nothing of the others. */
function partMessages({ composing }: Run, part: string): readonly RequestMessage[] {
  const run = partOf(composing, part);
  const text = asText(run?.input ?? null);
  const opening: Message = { role: "user", text: text === "" ? "Begin." : text };
  return asMessages([opening, ...(run?.messages ?? [])], (message) => message.context);
}

function overridesOf(
  program: Program,
  run: Run,
  { prompt, part }: { readonly prompt: PromptSpec; readonly part: string | undefined },
): Pick<ModelRequest, "overrides"> {
  const models = Object.keys(prompt.modelOverrides);
  if (models.length === 0) return {};
  const overrides: Record<string, RequestOverride> = {};
  for (const model of models) {
    const parameters = parametersFor(prompt, model);
    put(overrides, model, { system: systemText(program, run, { model, part }), parameters });
  }
  return { overrides };
}

interface SystemTerms {
  readonly model?: string | undefined;
  readonly part?: string | undefined;
}

export const systemText = (program: Program, run: Run, terms: SystemTerms = {}): string =>
  systemPrompt(program, run, terms).text;

/** The present prompt with everything filled in. */
export function systemPrompt(program: Program, run: Run, { model, part }: SystemTerms = {}): RenderedPrompt {
  const { artifacts, context: workflowContext } = run;
  const prompt = promptNameOf(run, part);
  const variables =
    part === undefined ? run.variables : partVariables(run, promptOf(program, run, part), part);
  const artifactOf = (name: string): Json | undefined => {
    return Object.hasOwn(artifacts, name) ? artifactValue(artifacts[name] as ArtifactValue) : undefined;
  };
  const values = { prompt, variables, artifactOf, workflowContext };
  const rendered = renderPrompt(program, model === undefined ? values : { ...values, model });
  if (part === undefined) return withPreloaded(program, run.state, rendered);
  const schema = schemaPart(program, run, part);
  if (schema === undefined) return rendered;
  return { ...rendered, text: `${rendered.text}${schema.text}`, parts: [...rendered.parts, schema] };
}

/** A model cannot meet a schema it has not seen. */
function schemaPart(program: Program, run: Run, part: string): RenderedPart | undefined {
  const spec = partSpec(program, run, part);
  const name = spec.kind === "prompt" || spec.kind === "agent" ? spec.outputSchema : null;
  const schema = name === null ? undefined : schemaNamed(program, name);
  if (schema === undefined) return undefined;
  const asked = "Answer with one JSON value and nothing else. It must fit this JSON Schema:";
  const text = `\n\n${asked}\n${JSON.stringify(schema)}`;
  return { text, source: { kind: "template", name: name ?? "" } };
}

/** `required` holds until the first call of the visit, or a model could never stop calling. */
function choiceOf(
  prompt: PromptSpec,
  run: Run,
  { tools, part }: { readonly tools: readonly OfferedTool[]; readonly part: string | undefined },
): ModelRequest["toolChoice"] {
  if (tools.length === 0) return "none";
  const calls = part === undefined ? run.visitCalls : partOf(run.composing, part)?.calls;
  return prompt.toolChoice === "required" && calls === 0 ? "required" : "auto";
}

/** S25: the results of one answer stand in the order of its calls, whatever order they arrived in. */
export function messagesOf(run: Run): readonly RequestMessage[] {
  const told = asMessages(itemsOf(run.conversation), (message) => openingText(run, message));
  // Without a workflow no visit opens the conversation.
  return run.state === null ? [{ role: "user", text: openingText(run, soleOpening) }, ...told] : told;
}

type Opening = Extract<Message, { role: "opening" }>;

function asMessages(
  conversation: Iterable<Message>,
  opened: (message: Opening) => string,
): readonly RequestMessage[] {
  const messages: RequestMessage[] = [];
  let pending: { calls: readonly ToolCall[]; results: Extract<Message, { role: "result" }>[] } | undefined;
  const flush = () => {
    for (const call of pending?.calls ?? []) {
      const result = pending?.results.find((one) => one.call === call.id);
      if (result !== undefined)
        messages.push({
          role: "tool",
          call: call.id,
          tool: call.tool,
          // What a skill says is loaded whole or not at all.
          value: isSkillCall(call) ? result.value : shownResult(result.value),
          error: result.error,
        });
    }
    pending = undefined;
  };
  for (const message of conversation) {
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
          text: message.role === "opening" ? opened(message) : message.text,
        });
    }
  }
  flush();
  return messages;
}

const soleOpening = { role: "opening", fresh: true, cause: null, context: "" } as const;

/** S24: the task is never lost by a reset, and the state knows what led to it. */
function openingText(run: Run, { fresh, cause, context }: Opening): string {
  const parts: string[] = [];
  if (fresh && run.input !== "") parts.push(run.input);
  if (cause !== null) parts.push(`(The workflow came here from ${cause.from} by the event ${cause.event}.)`);
  // Quoted: what one model said must not pass for a word of the workflow to the next.
  if (context !== "") parts.push(`It was given this context:\n> ${context.replaceAll("\n", "\n> ")}`);
  return parts.length === 0 ? "Begin." : parts.join("\n\n");
}
