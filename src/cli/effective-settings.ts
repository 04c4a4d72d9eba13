// The settings in force for a pack or a folder, each with the layer that set it: a flag, the environment,
// packloop.yaml, or nobody. Values are those that a run started now would have; secrets are not among them.

import { isObject, type Json, type Path } from "../base/json.ts";
import { Redaction } from "../engine/redaction.ts";
import { secretNames } from "../host/secret-names.ts";
import { type TelemetrySettings, telemetryEnv } from "../host/telemetry-settings.ts";
import { shownStore } from "./runs/open-store.ts";
import { type RunConfig, runConfigFor } from "./runs/start-terms.ts";
import { NOT_SHOWN, shownValue } from "./shown-value.ts";

export interface Setting {
  readonly name: string;
  readonly value: Json;
  readonly origin: Origin;
}

export interface Origin {
  readonly layer: "flag" | "environment" | "file" | "default";
  /** The flag, the variable, or `FILE:LINE:COLUMN`; null for a default. */
  readonly place: string | null;
}

export interface EffectiveSettings {
  /** Where the file was read; null when there is none. */
  readonly file: string | null;
  readonly settings: readonly Setting[];
  /** Sections of the file that nothing reads. */
  readonly unused: readonly string[];
}

export interface LayerFlags {
  readonly config?: string;
  readonly model?: string;
  readonly store?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** A usage error with places when the file has mistakes. */
export function effectiveSettings(place: string, flags: LayerFlags, env: Env): EffectiveSettings {
  const config = runConfigFor(place, flags);
  const { settings, file } = config;
  const redaction = new Redaction();
  for (const name of secretNames(settings, (one) => env[one])) redaction.add(name, env[name] ?? "");
  const all: readonly Setting[] = [
    { name: "store", value: shownStore(flags.store), origin: storeOrigin(flags, env) },
    { name: "model", value: settings.model, origin: modelOrigin(config, flags, env) },
    ...FILE_SECTIONS.flatMap(([name, none]) => fromFile(config, name, none)),
    ...telemetryRows(config, env),
    { name: "token", value: isSet(env, TOKEN) ? NOT_SHOWN : null, origin: envOrigin(env, TOKEN) },
  ];
  return {
    file: file.file === "" ? null : file.file,
    settings: all.map((one) => ({ ...one, value: shownValue(one.value, redaction) })),
    unused: UNUSED.filter((name) => Object.hasOwn(file.value, name)),
  };
}

const TOKEN = "PACKLOOP_TOKEN";
const UNUSED = ["server", "retention"];

/** What only the file sets, and what holds without it. */
const FILE_SECTIONS: readonly (readonly [name: string, none: Json])[] = [
  ["providers", {}],
  ["prices", {}],
  ["workspace", null],
  ["tools", {}],
  ["approvals", []],
  ["budgets", {}],
  ["secrets", []],
  ["waits", {}],
  ["check", {}],
];

const NOBODY: Origin = { layer: "default", place: null };

/** One row for each entry of a section; one row for what is no mapping, or is not there. */
function fromFile({ file }: RunConfig, name: string, none: Json): readonly Setting[] {
  const given = Object.hasOwn(file.value, name) ? (file.value[name] ?? null) : null;
  const row = (path: Path, value: Json): Setting => ({
    name: path.join("."),
    value,
    origin: { layer: "file", place: file.place(path) },
  });
  if (given === null) return [{ name, value: none, origin: NOBODY }];
  if (!isObject(given)) return [row([name], given)];
  const entries = Object.entries(given);
  if (entries.length === 0) return [row([name], given)];
  return entries.map(([key, value]) => row([name, key], value));
}

function storeOrigin({ store }: LayerFlags, env: Env): Origin {
  return store === undefined ? envOrigin(env, "PACKLOOP_STORE") : { layer: "flag", place: "--store" };
}

/** The same order as of the value itself. */
function modelOrigin({ file, settings }: RunConfig, { model }: LayerFlags, env: Env): Origin {
  if (model !== undefined) return { layer: "flag", place: "--model" };
  const origin = envOrigin(env, "PACKLOOP_MODEL");
  if (origin !== NOBODY || settings.model === null) return origin;
  return { layer: "file", place: file.place(["model"]) };
}

const envOrigin = (env: Env, name: string): Origin =>
  env[name] === undefined ? NOBODY : { layer: "environment", place: name };

const isSet = (env: Env, name: string): boolean => (env[name] ?? "").trim() !== "";

/** Settings of telemetry and the variables that win over them. */
const TELEMETRY: readonly (readonly [key: string, variable: string])[] = [
  ["endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT"],
  ["service_name", "OTEL_SERVICE_NAME"],
  ["content", "PACKLOOP_OTEL_CONTENT"],
  ["baggage", "PACKLOOP_OTEL_BAGGAGE"],
];

function telemetryRows({ settings, file }: RunConfig, env: Env): readonly Setting[] {
  const filled = telemetryEnv(settings.telemetry, env);
  const rows = TELEMETRY.map(([key, variable]): Setting => {
    const isFilled = !isSet(env, variable) && isSet(filled, variable);
    const origin: Origin = isFilled
      ? { layer: "file", place: file.place(["telemetry", key]) }
      : isSet(env, variable)
        ? envOrigin(env, variable)
        : NOBODY;
    return {
      name: `telemetry.${key}`,
      value: isSet(filled, variable) ? (filled[variable] ?? null) : null,
      origin,
    };
  });
  return [...rows, headersRow(settings.telemetry, file.place, env)];
}

const HEADERS = "OTEL_EXPORTER_OTLP_HEADERS";

/** Of the headers only which there are and which variables fill them. */
function headersRow(
  telemetry: TelemetrySettings | undefined,
  place: (path: Path) => string,
  env: Env,
): Setting {
  const name = "telemetry.headers";
  if (isSet(env, HEADERS)) return { name, value: NOT_SHOWN, origin: envOrigin(env, HEADERS) };
  const { headers } = telemetry ?? {};
  if (headers === undefined) return { name, value: {}, origin: NOBODY };
  const value = Object.fromEntries(Object.entries(headers).map(([header, from]) => [`${header}_env`, from]));
  return { name, value, origin: { layer: "file", place: place(["telemetry", "headers"]) } };
}
