// Which model: from the text or the mapping a user writes, with the place of every mistake.

import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { isSecretHeader } from "../net/secret-header.ts";
import { type OptionProblem, OptionReader } from "../tool/option-reader.ts";

export interface ModelSetting {
  readonly provider: ProviderName;
  readonly model: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers whose values are in the environment: the value is the variable's name. */
  readonly headersEnv?: Readonly<Record<string, string>>;
  /** Which interface of OpenAI is spoken. */
  readonly api?: "chat" | "responses";
  /** Options of the provider in the AI SDK. */
  readonly options?: JsonObject;
  readonly timeoutMs?: number;
  readonly stream?: boolean;
}

export type ProviderName = (typeof PROVIDERS)[number];

export const PROVIDERS = ["anthropic", "openai", "google", "ollama", "openai-compatible"] as const;

/** A text `provider/model`, or a mapping. Undefined when it cannot be used; then a problem says why. */
export function readModelSetting(
  value: Json,
  path: readonly (string | number)[],
  problems: OptionProblem[],
): ModelSetting | undefined {
  const say = (message: string) => void problems.push({ path, message });
  if (typeof value === "string") return fromText(value, say);
  if (isObject(value)) return fromMapping(new OptionReader(value, path, problems));
  say("a model is a text like `anthropic/claude-sonnet-5`, or a mapping with `provider` and `model`");
  return undefined;
}

function fromText(text: string, say: (message: string) => void): ModelSetting | undefined {
  const slash = text.indexOf("/");
  const [provider, model] = slash === -1 ? ["", text] : [text.slice(0, slash), text.slice(slash + 1)];
  if (provider === "openai-compatible") {
    say("`openai-compatible` needs an address (write a mapping with `provider`, `base_url` and `model`)");
  } else if (isProvider(provider)) {
    if (model !== "") return { provider, model };
    say(`\`${text}\` names no model (write \`${provider}/MODEL\`)`);
  } else if (slash === -1 && providerOf(model) !== undefined) {
    say(`\`${text}\` names no provider (write \`${providerOf(model)}/${model}\`)`);
  } else say(unknownProvider(slash === -1 ? text : provider));
  return undefined;
}

function fromMapping(reader: OptionReader): ModelSetting | undefined {
  const before = reader.problems.length;
  const provider = reader.neededText("provider");
  const model = reader.neededText("model");
  const seconds = reader.number("timeout_sec", { least: 0.1, most: 86_400 });
  const known = isProvider(provider) ? provider : undefined;
  if (provider !== "" && known === undefined) reader.wrong("provider", unknownProvider(provider));
  const baseUrl = reader.text("base_url");
  if (known === "openai-compatible" && baseUrl === undefined)
    reader.wrong("provider", "`openai-compatible` needs `base_url` (like `http://localhost:8000/v1`)");
  if (baseUrl !== undefined && !/^https?:\/\/\S+$/.test(baseUrl))
    reader.wrong("base_url", `\`${baseUrl}\` is no address (it begins with http:// or https://)`);
  else if (baseUrl !== undefined && (URL.parse(baseUrl)?.password ?? "") !== "")
    reader.wrong("base_url", "the address carries credentials (name their variable in `api_key_env`)");
  const setting = {
    model,
    baseUrl,
    apiKeyEnv: reader.text("api_key_env"),
    headers: textsByName(reader, "headers"),
    headersEnv: textsByName(reader, "headers_env"),
    api: reader.oneOf("api", ["chat", "responses"]),
    options: reader.object("options"),
    timeoutMs: seconds === undefined ? undefined : seconds * 1000,
    stream: reader.flag("stream"),
  };
  for (const header of Object.keys(setting.headers ?? {}).filter(isSecretHeader))
    reader.wrong("headers", `\`${header}\` is a secret (name its variable under \`headers_env\`)`);
  if (setting.api !== undefined && known !== "openai")
    reader.wrong("api", "`api` is for the provider `openai` only");
  reader.end();
  if (known === undefined || reader.problems.length > before) return undefined;
  return { provider: known, ...withoutUndefined(setting) };
}

function textsByName(reader: OptionReader, key: string): Readonly<Record<string, string>> | undefined {
  const texts = reader.object(key);
  if (texts === undefined || Object.values(texts).every((one) => typeof one === "string"))
    return texts as Readonly<Record<string, string>> | undefined;
  reader.wrong(key, `\`${key}\` is a mapping of texts`);
  return undefined;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const withoutUndefined = <T extends { readonly model: string }>(
  value: T,
): Defined<T> & { readonly model: string } => {
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries) as Defined<T> & { readonly model: string };
};

const isProvider = (name: string): name is ProviderName => (PROVIDERS as readonly string[]).includes(name);

function unknownProvider(name: string): string {
  const meant = suggest(name, PROVIDERS);
  const hint = meant === undefined ? `known are ${PROVIDERS.join(", ")}` : `did you mean \`${meant}\`?`;
  return `\`${name}\` is no provider of models (${hint})`;
}

/** Whose model it is, where the name says it. */
function providerOf(model: string): ProviderName | undefined {
  if (model.startsWith("claude-")) return "anthropic";
  if (/^(gpt-|o\d|chatgpt-)/.test(model)) return "openai";
  return model.startsWith("gemini-") ? "google" : undefined;
}
