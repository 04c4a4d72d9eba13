// The manifest of a plugin: who it is, what is started, and which commands it has. Old and new spellings are
// read.

import { get, isObject, type Json, type JsonObject } from "../base/json.ts";

export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string | undefined;
  /** Relative to the plugin's folder. */
  readonly entrypoint: string;
  readonly commands: ReadonlyMap<string, PluginCommand>;
  readonly configKeys: { readonly required: readonly string[]; readonly optional: readonly string[] };
  readonly warnings: readonly string[];
}

export interface PluginCommand {
  readonly reads: boolean;
  readonly description: string | undefined;
  readonly inputSchema: JsonObject | undefined;
  readonly idempotent: boolean;
  /** False: a failed attempt is not repeated. */
  readonly retrySafe: boolean;
}

const KEYS = new Set([
  ...[
    "manifest_spec",
    "manifest_version",
    "name",
    "version",
    "protocol",
    "entrypoint",
    "description",
    "commands",
  ],
  ...["concurrency_safe", "fact_outputs", "config_keys"],
]);

/** A text says why it is none. */
export function readManifest(value: Json, { isStrict = false } = {}): PluginManifest | string {
  if (!isObject(value)) return "the manifest is not a mapping";
  const wrong = wrongManifest(value) ?? (isStrict ? missingInManifest(value) : undefined);
  if (wrong !== undefined) return wrong;
  const commands = readCommands(get(value, "commands"));
  if (typeof commands === "string") return commands;
  const config = get(value, "config_keys");
  const unknown = Object.keys(value).filter((key) => !KEYS.has(key));
  return {
    name: String(get(value, "name")),
    version: String(get(value, "version")),
    description: textOf(get(value, "description")),
    entrypoint: String(get(value, "entrypoint")),
    commands,
    configKeys: { required: texts(get(config, "required")), optional: texts(get(config, "optional")) },
    warnings: [
      ...unknown.map((key) => `unknown key \`${key}\` in the manifest`),
      ...(get(value, "fact_outputs") === undefined ? [] : ["`fact_outputs` of the manifest is ignored"]),
    ],
  };
}

function wrongManifest(value: JsonObject): string | undefined {
  const spec = get(value, "manifest_spec") ?? "ductile.plugin";
  if (spec !== "ductile.plugin") return `\`manifest_spec\` is \`${spec}\`, not \`ductile.plugin\``;
  const version = get(value, "manifest_version") ?? 1;
  if (version !== 1) return `\`manifest_version\` is \`${version}\`, not 1`;
  if (get(value, "protocol") !== 2) return "`protocol` is not 2";
  const name = get(value, "name");
  if (typeof name !== "string" || !/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))
    return "`name` is not a plugin's name (small letters, digits, `-` and `_`)";
  if (!["string", "number"].includes(typeof get(value, "version"))) return "`version` is missing";
  const entrypoint = get(value, "entrypoint");
  if (typeof entrypoint !== "string" || entrypoint === "") return "`entrypoint` is missing";
  if (entrypoint.startsWith("/") || entrypoint.split("/").includes(".."))
    return `\`entrypoint\` \`${entrypoint}\` leads out of the plugin's folder`;
  return undefined;
}

function missingInManifest(value: JsonObject): string | undefined {
  for (const key of ["manifest_spec", "manifest_version"])
    if (get(value, key) === undefined) return `\`${key}\` is missing`;
  const commands = get(value, "commands");
  const isTyped = (one: Json) => typeof get(one, "type") === "string";
  if (Array.isArray(commands) && !(commands as readonly Json[]).every(isTyped))
    return "a command of `commands` has no `type`";
  return undefined;
}

function readCommands(value: Json | undefined): ReadonlyMap<string, PluginCommand> | string {
  if (!Array.isArray(value) || value.length === 0) return "`commands` is not a list of commands";
  const commands = new Map<string, PluginCommand>();
  for (const entry of value as readonly Json[]) {
    const name = typeof entry === "string" ? entry : get(entry, "name");
    if (typeof name !== "string" || name === "") return "a command of `commands` has no name";
    const type = get(entry, "type") ?? (name === "health" ? "read" : "write");
    if (type !== "read" && type !== "write")
      return `the type of command \`${name}\` is neither read nor write`;
    commands.set(name, {
      reads: type === "read",
      description: textOf(get(entry, "description")),
      inputSchema: schemaOf(get(entry, "input_schema")),
      idempotent: get(entry, "idempotent") === true,
      retrySafe: get(entry, "retry_safe") !== false,
    });
  }
  return commands;
}

const SIMPLE = new Set(["string", "number", "integer", "boolean", "object", "array"]);

/** A JSON Schema, or the short form `{field: type}` as one. */
function schemaOf(value: Json | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const isShort = Object.values(value).every((type) => typeof type === "string" && SIMPLE.has(type));
  if (!isShort || (Object.hasOwn(value, "type") && Object.keys(value).length === 1)) return value;
  const properties = Object.fromEntries(Object.entries(value).map(([name, type]) => [name, { type }]));
  return { type: "object", properties };
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

const texts = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter((one) => typeof one === "string") : [];
