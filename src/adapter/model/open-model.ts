// From a setting to a model that can be called. A provider's package is loaded only here, when it is needed.

import type { LanguageModelV4 } from "@ai-sdk/provider";
import { Fault, type ModelPort } from "../../engine/ports.ts";
import { languageModel } from "./language-model.ts";
import type { ModelSetting } from "./model-setting.ts";
import { type Prices, priceOf } from "./prices.ts";

export interface OpenedModel {
  readonly port: ModelPort;
  /** As the provider spells it. */
  readonly model: string;
  /** False: no price is known, calls count with a cost of 0 (a budget of money does not hold). */
  readonly isPriced: boolean;
}

export interface ModelSurroundings {
  readonly env: (name: string) => string | undefined;
  readonly prices?: Prices;
  readonly warn?: (message: string) => void;
}

/** Throws a fault `no_key` or `no_model` whose one line says what to set. */
export async function openModel(setting: ModelSetting, around: ModelSurroundings): Promise<OpenedModel> {
  const { model, options, timeoutMs, stream } = setting;
  const { prices, warn } = around;
  const key = keyOf(setting, around.env);
  const headers = { ...setting.headers, ...headersOf(setting, around.env) };
  const opened = await OPEN[setting.provider]({ ...setting, ...key, headers });
  const port = languageModel(opened, {
    ...(prices !== undefined && { prices }),
    ...(warn !== undefined && { warn }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(stream !== undefined && { stream }),
    ...(key.keyEnv !== undefined && { keyEnv: key.keyEnv }),
    ...(options !== undefined && { providerOptions: { [optionsName(setting)]: options } }),
  });
  // What runs here costs nothing.
  const isFree = setting.provider === "ollama";
  return { port, model, isPriced: isFree || priceOf(model, prices) !== undefined };
}

interface Given extends ModelSetting {
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** The AI SDK reads keys from the process itself; ours come from the surroundings only. */
const OPEN: Readonly<Record<ModelSetting["provider"], (given: Given) => Promise<LanguageModelV4>>> = {
  async anthropic(given) {
    const { createAnthropic } = await loaded("@ai-sdk/anthropic", import("@ai-sdk/anthropic"));
    return createAnthropic(settingsOf(given))(given.model);
  },
  async openai(given) {
    const { createOpenAI } = await loaded("@ai-sdk/openai", import("@ai-sdk/openai"));
    const provider = createOpenAI(settingsOf(given));
    // Newer models call tools and give their reasoning back only there; elsewhere `chat` is what servers know.
    return given.api === "chat" ? provider.chat(given.model) : provider.responses(given.model);
  },
  async google(given) {
    const { createGoogle } = await loaded("@ai-sdk/google", import("@ai-sdk/google"));
    return createGoogle(settingsOf(given))(given.model);
  },
  ollama: (given) => openCompatible({ baseUrl: "http://localhost:11434/v1", ...given }, "ollama"),
  "openai-compatible": (given) => openCompatible(given, COMPATIBLE),
};

const COMPATIBLE = "compatible";

async function openCompatible(given: Given, name: string): Promise<LanguageModelV4> {
  const load = import("@ai-sdk/openai-compatible");
  const { createOpenAICompatible } = await loaded("@ai-sdk/openai-compatible", load);
  const settings = { ...settingsOf(given), baseURL: given.baseUrl ?? "", name, includeUsage: true };
  return createOpenAICompatible(settings).chatModel(given.model);
}

function settingsOf({ apiKey, baseUrl, headers }: Given): {
  apiKey?: string;
  baseURL?: string;
  headers: Record<string, string>;
} {
  return {
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    headers,
  };
}

/** Options are found by the provider's own name in the AI SDK. */
const optionsName = ({ provider }: ModelSetting): string =>
  provider === "openai-compatible" ? COMPATIBLE : provider;

const KEYS: Readonly<Record<ModelSetting["provider"], readonly string[]>> = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  ollama: [],
  "openai-compatible": [],
};

/** Variables that may hold a provider's key, the first one that is set counts; none when it needs no key. */
export const keyVariables = ({ provider, apiKeyEnv }: KeyPlace): readonly string[] =>
  apiKeyEnv === undefined ? KEYS[provider] : [apiKeyEnv];

export type KeyPlace = Pick<ModelSetting, "provider" | "apiKeyEnv">;

function keyOf(
  setting: ModelSetting,
  env: ModelSurroundings["env"],
): { readonly apiKey: string | undefined; readonly keyEnv: string | undefined } {
  const names = keyVariables(setting);
  const name = names.find((one) => (env(one) ?? "") !== "");
  if (name !== undefined) return { apiKey: env(name), keyEnv: name };
  if (names.length === 0) return { apiKey: undefined, keyEnv: undefined };
  throw new Fault("no_key", `\`${setting.provider}/${setting.model}\` needs a key (set ${names[0]})`, {
    retry: "never",
  });
}

function headersOf({ headersEnv = {} }: ModelSetting, env: ModelSurroundings["env"]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [header, name] of Object.entries(headersEnv)) {
    const value = env(name);
    if (value === undefined)
      throw new Fault("no_key", `the header \`${header}\` needs a value (set ${name})`, { retry: "never" });
    headers[header] = value;
  }
  return headers;
}

async function loaded<T>(name: string, load: Promise<T>): Promise<T> {
  try {
    return await load;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    const message = `the package \`${name}\` is not installed (run: npm install ${name})`;
    throw new Fault("no_model", message, { retry: "never", cause: error });
  }
}
