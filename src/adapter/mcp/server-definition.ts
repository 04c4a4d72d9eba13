// How packloop.yaml describes an MCP server: a program spoken to over its standard streams, or a URL. Equal
// descriptions are one server with one connection. Secrets are named here and looked up when it is opened.

import { canonical, put } from "../../base/json.ts";
import { sha256Of } from "../../base/sha256.ts";
import { Fault } from "../../engine/ports.ts";
import { isSecretHeader } from "../net/secret-header.ts";
import type { Surroundings } from "../tool/bound-tool.ts";
import type { OptionReader } from "../tool/option-reader.ts";

export type McpDefinition =
  | {
      readonly kind: "stdio";
      readonly command: readonly string[];
      /** Names of environment variables the program gets besides the usual few. */
      readonly env: readonly string[];
      /** As written; relative to `folder`. */
      readonly cwd: string;
      readonly folder: string;
    }
  | {
      readonly kind: "http";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Header names with the environment variable each value comes from. */
      readonly headersEnv: Readonly<Record<string, string>>;
      readonly bearerEnv: string | null;
    };

/** Reads `mcp:` of a binding; undefined when it is wrong, with the problems in the reader. */
export function readDefinition(binding: OptionReader, folder: string): McpDefinition | undefined {
  const reader = binding.section("mcp");
  if (reader === undefined) return undefined;
  const before = reader.problems.length;
  const command = reader.texts("command");
  const url = reader.text("url");
  const definition =
    url === undefined ? readProgram(reader, { command, folder }) : readAddress(reader, { url, command });
  reader.end();
  return reader.problems.length === before ? definition : undefined;
}

function readProgram(
  reader: OptionReader,
  { command, folder }: { readonly command: readonly string[] | undefined; readonly folder: string },
): McpDefinition {
  const env = reader.texts("env") ?? [];
  const cwd = reader.text("cwd") ?? ".";
  if (command === undefined || command.length === 0 || command[0] === "")
    reader.wrong("command", "`command` is a list of a program and its arguments (or give a `url`)");
  return { kind: "stdio", command: command ?? [], env: [...env].sort(), cwd, folder };
}

function readAddress(
  reader: OptionReader,
  { url, command }: { readonly url: string; readonly command: readonly string[] | undefined },
): McpDefinition {
  if (command !== undefined) reader.wrong("command", "a server has a `command` or a `url`, not both");
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    reader.wrong("url", `\`${url}\` is not an http or https address`);
  else if (parsed.username !== "" || parsed.password !== "")
    reader.wrong("url", "a secret does not belong into the address (name its variable in `bearer_env`)");
  const headers: Record<string, string> = {};
  const headersEnv: Record<string, string> = {};
  for (const [key, value] of Object.entries(reader.object("headers") ?? {})) {
    const name = key.replace(/_env$/, "");
    if (typeof value !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      reader.wrong("headers", `header \`${key}\` is a name with a text`);
    else if (name === key && isSecretHeader(name))
      reader.wrong("headers", `\`${key}\` is a secret (write \`${key}_env\` and the name of a variable)`);
    else put(name === key ? headers : headersEnv, name, value);
  }
  const bearerEnv = reader.text("bearer_env") ?? null;
  return { kind: "http", url, headers, headersEnv, bearerEnv };
}

/** The same for equal definitions only. */
export const keyOf = (definition: McpDefinition): string => canonical(definition);

/** What people read. Without the query of an address, which may hold a token. */
export function labelOf(definition: McpDefinition): string {
  if (definition.kind === "stdio") return clipped(definition.command.join(" "));
  const { origin, pathname } = new URL(definition.url);
  return clipped(`${origin}${pathname}`);
}

const clipped = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/**
 * Names a server in a file of pins: readable, different for different definitions, and the same on every
 * machine.
 */
export function pinIdOf(definition: McpDefinition): string {
  const written = definition.kind === "stdio" ? { ...definition, folder: "" } : definition;
  return `${labelOf(definition)} #${sha256Of(keyOf(written)).slice(0, 12)}`;
}

export interface Credentials {
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Values that must not be shown, by the name of their variable. */
  readonly secrets: ReadonlyMap<string, string>;
}

export function credentialsOf(definition: McpDefinition, around: Surroundings): Credentials {
  const secrets = new Map<string, string>();
  const valueOf = (name: string): string => {
    const value = around.env(name);
    if (value === undefined)
      throw new Fault(
        "not_configured",
        `environment variable \`${name}\` is not set (MCP server \`${labelOf(definition)}\` needs it)`,
        { retry: "never" },
      );
    secrets.set(name, value);
    return value;
  };
  const env: Record<string, string> = {};
  const headers: Record<string, string> = {};
  if (definition.kind === "stdio") {
    for (const name of definition.env) put(env, name, valueOf(name));
  } else {
    for (const [name, value] of Object.entries(definition.headers)) put(headers, name, value);
    for (const [name, from] of Object.entries(definition.headersEnv)) put(headers, name, valueOf(from));
    if (definition.bearerEnv !== null)
      put(headers, "Authorization", `Bearer ${valueOf(definition.bearerEnv)}`);
  }
  return { env, headers, secrets };
}
