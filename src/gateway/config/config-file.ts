// From config.yaml to everything a gateway starts with: the configuration, its pipelines and its plugins.
// All problems are found before anything runs.

import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseDocument } from "yaml";
import { get, isObject, type Json, type JsonObject, put } from "../../base/json.ts";
import { checkUses, findPlugins, type PluginSet } from "../installed-plugins.ts";
import { compilePipelines } from "../pipeline/compile-pipelines.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { type GatewayConfig, readConfig } from "./config.ts";
import { forbiddenToAgent } from "./scopes.ts";
import { type Findings, noFindings } from "./section.ts";
import { substituted } from "./substituted.ts";

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

const FILE_BYTES_MAX = 5_000_000;

/** With errors the setup must not be run. */
export function readSetup(reading: Reading): GatewaySetup {
  const findings = noFindings();
  const gathered = gather(reading, findings);
  if (gathered === undefined) return nothing(reading, findings);
  const config = readConfig(gathered.document, dirname(resolve(reading.file)), findings);
  const say = (problem: string) => findings.errors.push(problem);
  const pipelines = compilePipelines(gathered.pipelines, say);
  const set = findPlugins(config, findings);
  checkUses(pipelines, set, findings);
  checkTokens(config, pipelines, say);
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

function checkTokens(
  config: GatewayConfig,
  pipelines: ReadonlyMap<string, Pipeline>,
  say: (problem: string) => void,
): void {
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
  const seen = new Set<string>();
  const read = (path: string): JsonObject => {
    const real = realPath(path);
    if (real !== undefined && seen.has(real)) return {};
    seen.add(real ?? path);
    return readYaml(path, env, findings);
  };
  const document = read(resolve(file));
  if (findings.errors.length > 0 && Object.keys(document).length === 0) return undefined;
  const plugins: Record<string, Json> = {};
  const pipelines: Json[] = [];
  const take = (from: JsonObject, path: string): void => {
    const entries = get(from, "plugins");
    for (const [name, entry] of Object.entries(isObject(entries) ? entries : {})) {
      if (Object.hasOwn(plugins, name))
        findings.errors.push(`\`${path}\` has \`plugins.${name}\` a second time`);
      put(plugins, name, entry);
    }
    const list = get(from, "pipelines") ?? [];
    if (Array.isArray(list)) pipelines.push(...(list as readonly Json[]));
    else findings.errors.push(`\`pipelines\` of \`${path}\` is not a list`);
  };
  take(document, file);
  const include = get(document, "include");
  const included = Array.isArray(include) ? include.filter((one) => typeof one === "string") : [];
  for (const path of [...included.map((one) => resolve(folder, one)), ...pipelineFiles(folder)]) {
    const from = read(path);
    take(from, path);
    for (const key of Object.keys(from))
      if (key !== "plugins" && key !== "pipelines")
        findings.unknown.push(
          `\`${key}\` of \`${path}\` is ignored: only plugins and pipelines are read there`,
        );
  }
  return { document: { ...document, plugins }, pipelines };
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

function readYaml(path: string, env: Reading["env"], findings: Findings): JsonObject {
  const say = (why: string) => void findings.errors.push(`\`${path}\` ${why}`);
  const text = textOf(path, say);
  if (text === undefined) return {};
  // Without a schema of its own a document is read by YAML 1.2, where `on` is a text.
  const document = parseDocument(text, { version: "1.2", uniqueKeys: true });
  const [first] = document.errors;
  if (first !== undefined) {
    say(`is not YAML: ${first.message.split("\n", 1)[0]}`);
    return {};
  }
  const value = plain(document, say);
  if (value === null) return {};
  const missing = (name: string) => say(`needs the variable \`${name}\`, which is not set`);
  const filled = substituted(value, env, missing);
  if (isObject(filled)) return filled;
  say("is not a mapping");
  return {};
}

function plain(document: ReturnType<typeof parseDocument>, say: (why: string) => void): Json {
  try {
    return document.toJS() as Json;
  } catch (error) {
    // Aliases that multiply beyond the reader's limit.
    if (!(error instanceof ReferenceError)) throw error;
    say(`cannot be read: ${error.message}`);
    return null;
  }
}

function textOf(path: string, say: (why: string) => void): string | undefined {
  try {
    if (statSync(path).size <= FILE_BYTES_MAX) return readFileSync(path, "utf8");
    say("is too large");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    say(code === "ENOENT" ? "is not there" : `cannot be read (${code ?? "unknown reason"})`);
  }
  return undefined;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) return undefined;
    throw error;
  }
}
