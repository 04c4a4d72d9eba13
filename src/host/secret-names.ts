// Which environment variables hold secrets of a configuration. Their values are kept out of everything that
// is stored or shown.

import { isObject, type Json } from "../base/json.ts";
import type { RunSettings } from "./run-settings.ts";

/** Keys that lie in many environments; nothing of theirs is ever meant to be stored. */
const USUAL = [
  ...["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  ...["GOOGLE_API_KEY", "AZURE_OPENAI_API_KEY", "OPENROUTER_API_KEY", "MISTRAL_API_KEY", "HF_TOKEN"],
  ...["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "PGPASSWORD"],
];

/** Of what is handed on to programs only a part is secret: `LANG` is not. */
const SOUNDS_SECRET = /key|token|secret|pass|pwd|pin$|credential|auth|cookie|session|dsn|private/i;

export function secretNames(
  { model, providers, tools, secrets, telemetry }: RunSettings,
  env: (name: string) => string | undefined,
): readonly string[] {
  // Names of tools and providers are anybody's choice: only what stands below them are options.
  const { named, handedOn } = namesIn([model, ...Object.values(providers), ...Object.values(tools)]);
  const risky = handedOn.filter((name) => SOUNDS_SECRET.test(name) || hasPassword(env(name) ?? ""));
  const sent = Object.values(telemetry?.headers ?? {});
  return [...new Set([...secrets, ...USUAL, ...named, ...risky, ...sent])];
}

interface Names {
  /** Under a key that ends in `_env`. */
  readonly named: readonly string[];
  /** Under `env`. */
  readonly handedOn: readonly string[];
}

function namesIn(value: Json): Names {
  if (Array.isArray(value)) return joined((value as readonly Json[]).map(namesIn));
  if (!isObject(value)) return { named: [], handedOn: [] };
  return joined(
    Object.entries(value).map(([key, item]) => {
      if (/_env$/i.test(key)) return { named: textsIn(item), handedOn: [] };
      return key === "env" ? { named: [], handedOn: textsIn(item) } : namesIn(item);
    }),
  );
}

const joined = (all: readonly Names[]): Names => ({
  named: all.flatMap(({ named }) => named),
  handedOn: all.flatMap(({ handedOn }) => handedOn),
});

/** A name, a list of names, or names by what they are for. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  const items: readonly Json[] = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return items.filter((one) => typeof one === "string");
}

const hasPassword = (value: string): boolean => (URL.parse(value.trim())?.password ?? "") !== "";
