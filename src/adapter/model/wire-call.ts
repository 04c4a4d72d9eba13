// One request of the core as call options of the AI SDK's model interface.

import { hash } from "node:crypto";
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { type Json, type JsonObject } from "../../base/json.ts";
import type { OfferedTool } from "../../core/offered-tools.ts";
import type { ModelRequest } from "../../core/request.ts";
import { wireName } from "./tool-names.ts";
import { wirePrompt } from "./wire-prompt.ts";

export interface WireTarget {
  readonly from: string;
  /** Under this name a pack's overrides know the model. */
  readonly model: string;
  /** The provider takes reasoning back only while system text and tools are what they were. */
  readonly bindsReasoning: boolean;
  readonly providerOptions: JsonObject | undefined;
}

export interface WireCall {
  readonly options: LanguageModelV4CallOptions;
  readonly prefix: string | undefined;
  /** Parameters that no provider interface has a place for. */
  readonly unknown: readonly string[];
}

export function wireCall(request: ModelRequest, target: WireTarget): WireCall {
  const { overrides } = request;
  const own =
    overrides !== undefined && Object.hasOwn(overrides, target.model) ? overrides[target.model] : undefined;
  const { system, parameters } = own ?? request;
  const prefix = target.bindsReasoning ? prefixOf(system, request.tools) : undefined;
  const options: LanguageModelV4CallOptions = {
    prompt: wirePrompt(request, system, { from: target.from, prefix }),
  };
  if (request.tools.length > 0) {
    options.tools = request.tools.map(wireTool);
    options.toolChoice = { type: request.toolChoice };
  }
  if (target.providerOptions !== undefined) options.providerOptions = target.providerOptions as never;
  return { options, prefix, unknown: setParameters(options, parameters) };
}

function wireTool({ name, description, parameters }: OfferedTool): LanguageModelV4FunctionTool {
  return {
    type: "function",
    name: wireName(name),
    ...(description !== "" && { description }),
    inputSchema: parameters,
  };
}

/** The conversation only grows, so system text and tools are all that can change before an answer. */
const prefixOf = (system: string, tools: readonly OfferedTool[]): string =>
  hash("sha256", JSON.stringify([system, tools]), "hex").slice(0, 16);

const NUMBERS: Readonly<Record<string, keyof LanguageModelV4CallOptions>> = {
  temperature: "temperature",
  max_tokens: "maxOutputTokens",
  top_p: "topP",
  top_k: "topK",
  frequency_penalty: "frequencyPenalty",
  presence_penalty: "presencePenalty",
  seed: "seed",
};

/** Sets what has a place; gives the names of what has none. Null means that nothing is asked for. */
function setParameters(options: LanguageModelV4CallOptions, parameters: JsonObject): readonly string[] {
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) continue;
    const place = Object.hasOwn(NUMBERS, name) ? NUMBERS[name] : undefined;
    if (place !== undefined && typeof value === "number") Object.assign(options, { [place]: value });
    else if (name === "stop" || name === "stop_sequences") options.stopSequences = textsOf(value);
    else if (name === "reasoning_effort" && typeof value === "string") options.reasoning = value as never;
    else unknown.push(name);
  }
  return unknown;
}

const textsOf = (value: Json): string[] => (Array.isArray(value) ? value : [value]).map(String);
