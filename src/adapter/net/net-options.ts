// Options of tools that ask over HTTP: which hosts, and which headers. The value of a header is written down,
// or named as an environment variable by a key that ends in `_env`; only the latter is for secrets.

import type { Surroundings } from "../tool/bound-tool.ts";
import type { OptionReader } from "../tool/option-reader.ts";
import { ToolProblem } from "../tool/tool-problem.ts";
import { type NetRules, readException, readHostPattern } from "./net-rules.ts";
import { nodeHttp } from "./node-http.ts";
import { isSecretHeader } from "./secret-header.ts";

export function readNetRules(reader: OptionReader): NetRules {
  const allowHosts = reader.texts("allow_hosts");
  const allowPrivate = reader.texts("allow_private");
  for (const entry of allowHosts ?? []) {
    if (readHostPattern(entry) === undefined)
      reader.wrong("allow_hosts", `\`${entry}\` is not a host (write \`example.org\` or \`*.example.org\`)`);
  }
  for (const entry of allowPrivate ?? []) {
    if (readException(entry) === undefined)
      reader.wrong("allow_private", `\`${entry}\` is not a host with its port (write \`127.0.0.1:8080\`)`);
  }
  return {
    ...(allowHosts !== undefined && { allowHosts }),
    ...(allowPrivate !== undefined && { allowPrivate }),
  };
}

export interface HeaderOptions {
  /** One of them is a secret. */
  readonly secret: boolean;
  /** Names in lower case; a variable that is not set is a problem. */
  readonly values: () => Readonly<Record<string, string>>;
  /** The text without the secrets, for servers that send back what they were sent. */
  readonly hide: (text: string) => string;
}

/** Set by us, or by the connection. */
const RESERVED = new Set([
  ...["host", "connection", "content-length", "transfer-encoding", "upgrade", "keep-alive", "te", "trailer"],
  ...["accept-encoding", "idempotency-key", "expect", "proxy-authorization", "proxy-connection"],
]);

/** Shorter values are words that mean something else as well. */
const SECRET_MIN = 6;

export function readHeaders(reader: OptionReader, around: Surroundings): HeaderOptions {
  const plain = new Map<string, string>();
  const secret = new Map<string, { readonly variable: string; readonly prefix: string }>();
  for (const [key, value] of Object.entries(reader.object("headers") ?? {})) {
    const fromEnv = key.toLowerCase().endsWith("_env");
    const name = (fromEnv ? key.slice(0, -"_env".length) : key).toLowerCase();
    const problem = headerProblem(name, value);
    if (problem !== undefined) reader.wrong("headers", `\`${key}\` ${problem}`);
    else if (!fromEnv && isSecretHeader(name))
      reader.wrong("headers", `\`${key}\` is a secret (write \`${key}_env\` and the name of a variable)`);
    else if (fromEnv) secret.set(name, { variable: String(value), prefix: "" });
    else plain.set(name, String(value));
  }
  const bearer = reader.text("bearer_env");
  if (bearer !== undefined) secret.set("authorization", { variable: bearer, prefix: "Bearer " });
  return {
    secret: secret.size > 0,
    values: () => ({ ...Object.fromEntries(plain), ...secretValues(secret, around) }),
    hide: (text) =>
      [...secret.values()].reduce((shown, { variable }) => {
        const value = around.env(variable)?.trim() ?? "";
        return value.length < SECRET_MIN ? shown : shown.replaceAll(value, `[${variable}]`);
      }, text),
  };
}

function headerProblem(name: string, value: unknown): string | undefined {
  if (typeof value !== "string") return "has to be a text";
  if (RESERVED.has(name)) return "is set by packloop itself";
  try {
    nodeHttp().validateHeaderName(name);
    nodeHttp().validateHeaderValue(name, value);
    return undefined;
  } catch (error) {
    // Both functions throw only for what cannot be a header.
    if (error instanceof TypeError) return "cannot be sent as a header";
    throw error;
  }
}

function secretValues(
  secret: ReadonlyMap<string, { readonly variable: string; readonly prefix: string }>,
  around: Surroundings,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, { variable, prefix }] of secret) {
    const value = around.env(variable)?.trim();
    if (value === undefined || value === "") {
      throw new ToolProblem(
        "not_configured",
        `the variable \`${variable}\` for the header \`${name}\` is not set`,
      );
    }
    if (headerProblem(name, value) !== undefined) {
      throw new ToolProblem(
        "not_configured",
        `the variable \`${variable}\` cannot be sent as the header \`${name}\``,
      );
    }
    values[name] = `${prefix}${value}`;
  }
  return values;
}
