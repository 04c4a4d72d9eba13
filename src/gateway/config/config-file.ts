// From config.yaml to everything a gateway starts with: the configuration, its pipelines and its plugins.
// All problems are found before anything runs.

import { readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { get, isObject, type Json, type JsonObject, put } from "../../base/json.ts";
import { checkUses, findPlugins, type PluginSet } from "../installed-plugins.ts";
import { compilePipelines } from "../pipeline/compile-pipelines.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { type GatewayConfig, readConfig } from "./config.ts";
import { forbiddenToAgent } from "./scopes.ts";
import { type Findings, noFindings, Section } from "./section.ts";
import { readYaml } from "./yaml-file.ts";

export interface GatewaySetup extends PluginSet {
  readonly config: GatewayConfig;
  readonly pipelines: ReadonlyMap<string, Pipeline>;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

export interface Reading {
  readonly file: string;
  readonly env: (name: string) => string | undefined;
}

/** With errors the setup must not be run. */
export function readSetup(reading: Reading): GatewaySetup {
  const findings = noFindings();
  const gathered = gather(reading, findings);
  if (gathered === undefined) return nothing(reading, findings);
  const config = readConfig(gathered.document, dirname(resolve(reading.file)), findings);
  const say = (problem: string, about?: Json) =>
    void findings.errors.push(`${findings.places.of(about)}${problem}`);
  const pipelines = compilePipelines(gathered.pipelines, say);
  const set = findPlugins(config, findings);
  checkUses(pipelines, set, findings);
  checkTokens(gathered.document, { config, pipelines, say });
  const isStrict = get(get(gathered.document, "service"), "strict_mode") === true;
  const errors = [...findings.errors, ...(isStrict ? findings.unknown : [])];
  const warnings = [...findings.warnings, ...(isStrict ? [] : findings.unknown)];
  return { ...set, config, pipelines, errors, warnings };
}

/** Whatever else could be said would only follow from there being no configuration. */
const nothing = ({ file }: Reading, { errors }: Findings): GatewaySetup => ({
  config: readConfig({}, dirname(resolve(file)), noFindings()),
  ...{ pipelines: new Map(), plugins: new Map(), skipped: new Map(), errors, warnings: [] },
});

interface TokenCheck {
  readonly config: GatewayConfig;
  readonly pipelines: ReadonlyMap<string, Pipeline>;
  readonly say: (problem: string, about?: Json) => void;
}

function checkTokens(document: JsonObject, { config, pipelines, say }: TokenCheck): void {
  const written = get(get(get(document, "api"), "auth"), "tokens");
  for (const token of config.api.tokens) {
    const startsAgent = (name: string) => {
      const pipeline = pipelines.get(name);
      return (pipeline?.entries ?? []).some((id) => pipeline?.nodes.get(id)?.plugin === token.forPlugin);
    };
    const forbidden = forbiddenToAgent(token, startsAgent);
    if (forbidden.length > 0) {
      const list = forbidden.map((scope) => `\`${scope}\``).join(", ");
      say(
        `the token for \`${token.forPlugin}\` must not have ${list} (with it the agent could start itself)`,
        Array.isArray(written) ? written.find((one: Json) => get(one, "token") === token.token) : undefined,
      );
    }
  }
}

interface Gathered {
  readonly document: JsonObject;
  readonly pipelines: readonly Json[];
}

/**
 * The configuration with what it includes, and the pipelines beside it. A file is read once. Undefined when
 * the configuration itself cannot be read.
 */
function gather({ file, env }: Reading, findings: Findings): Gathered | undefined {
  const folder = dirname(resolve(file));
  const { places } = findings;
  const seen = new Set<string>();
  /** Files beside the configuration are named as it was. */
  const nameOf = (path: string): string => join(dirname(file), relative(folder, path));
  const read = (path: string): JsonObject => {
    const real = realPath(path);
    if (real !== undefined && seen.has(real)) return {};
    seen.add(real ?? path);
    return readYaml({ path, name: nameOf(path), env }, findings);
  };
  const document = read(resolve(file));
  if (findings.errors.length > 0 && Object.keys(document).length === 0) return undefined;
  const plugins: Record<string, Json> = {};
  const pluginPlaces = new Map<string, string>();
  const pipelines: Json[] = [];
  const take = (from: JsonObject): void => {
    const entries = get(from, "plugins") ?? {};
    const wrong = (key: string, why: string) =>
      void findings.errors.push(`${places.of(from, key)}\`${key}\` ${why}`);
    if (!isObject(entries)) wrong("plugins", "is not a mapping");
    for (const [name, entry] of Object.entries(isObject(entries) ? entries : {})) {
      const place = places.of(entries, name);
      if (Object.hasOwn(plugins, name))
        findings.errors.push(`${place}there is \`plugins.${name}\` a second time`);
      put(plugins, name, entry);
      pluginPlaces.set(name, place);
    }
    const list = get(from, "pipelines") ?? [];
    if (Array.isArray(list)) pipelines.push(...(list as readonly Json[]));
    else wrong("pipelines", "is not a list");
  };
  take(document);
  const included = new Section(document, "", findings).texts("include");
  for (const path of [...included.map((one) => resolve(folder, one)), ...pipelineFiles(folder)]) {
    const from = read(path);
    take(from);
    for (const key of Object.keys(from))
      if (key !== "plugins" && key !== "pipelines")
        findings.unknown.push(
          `${places.of(from, key)}\`${key}\` is ignored: only plugins and pipelines are read here`,
        );
  }
  const whole = { ...document, plugins };
  places.copy(document, whole);
  places.copy({}, plugins, pluginPlaces);
  return { document: whole, pipelines };
}

/** Sorted by name. */
function pipelineFiles(folder: string): readonly string[] {
  const single = join(folder, "pipelines.yaml");
  const many = join(folder, "pipelines");
  const isThere = (path: string, kind: "isFile" | "isDirectory") =>
    statSync(path, { throwIfNoEntry: false })?.[kind]() === true;
  const names = isThere(many, "isDirectory") ? readdirSync(many).filter((name) => /\.ya?ml$/.test(name)) : [];
  return [
    ...(isThere(single, "isFile") ? [single] : []),
    ...names.toSorted().map((name) => join(many, name)),
  ];
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) return undefined;
    throw error;
  }
}
