// The providers as the tests call them: one server, spoken to in every wire protocol.

import { readModelSetting } from "../../../src/adapter/model/model-setting.ts";
import { openModel } from "../../../src/adapter/model/open-model.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { ModelRequest, RequestMessage } from "../../../src/core/request.ts";
import { type CallContext, Fault, type ModelPort } from "../../../src/engine/ports.ts";

export const PROVIDERS = ["anthropic", "openai", "openai chat", "google", "openai-compatible"] as const;
export type Provider = (typeof PROVIDERS)[number];

const KEYS: Readonly<Record<string, string>> = {
  ANTHROPIC_API_KEY: "key-of-anthropic",
  OPENAI_API_KEY: "key-of-openai",
  GOOGLE_GENERATIVE_AI_API_KEY: "key-of-google",
};

const SETTINGS: Readonly<Record<Provider, JsonObject>> = {
  anthropic: { provider: "anthropic", model: "claude-sonnet-4-5" },
  openai: { provider: "openai", model: "gpt-5.4" },
  "openai chat": { provider: "openai", model: "gpt-4.1", api: "chat" },
  google: { provider: "google", model: "gemini-2.5-flash" },
  "openai-compatible": { provider: "openai-compatible", model: "local-model" },
};

/** A port to `origin` that speaks the provider's protocol. */
export async function portTo(
  provider: Provider,
  origin: string,
  more: JsonObject & { readonly warn?: never } = {},
): Promise<ModelPort> {
  const base = provider === "google" ? "/v1beta" : "/v1";
  const problems: never[] = [];
  const setting = readModelSetting(
    { ...SETTINGS[provider], base_url: `${origin}${base}`, ...more },
    [],
    problems,
  );
  if (setting === undefined) throw new Error(JSON.stringify(problems));
  const { port } = await openModel(setting, { env: (name) => KEYS[name] });
  return port;
}

export function request(messages: readonly RequestMessage[], more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    provider: "default",
    system: "You keep the weather book.",
    messages,
    tools: [
      {
        name: "get_weather",
        kind: "pack",
        description: "The weather of a town.",
        parameters: { type: "object", properties: { town: { type: "string" } }, required: ["town"] },
      },
    ],
    toolChoice: "auto",
    parameters: {},
    ...more,
  };
}

export const user = (text: string): RequestMessage => ({ role: "user", text });

export function context(more: Partial<CallContext> = {}): CallContext {
  const signal = new AbortController().signal;
  return { run: "r", step: 7, key: "r/7", attempt: 1, signal, state: "s", prompt: "p", nth: 0, ...more };
}

/** The fault a call ends with. */
export async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const outcome = await call.then(
    (value) => new Error(`answered: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof Fault) return outcome;
  throw outcome;
}
