// `packloop.yaml`: found beside the pack or given with --config. Unknown keys are errors with a suggestion.

import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, matchesGlob, relative, resolve, sep } from "node:path";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import type { CheckConfig } from "../pack/check/rule.ts";
import type { Severity } from "../pack/diagnostic.ts";
import { LineIndex } from "../pack/read/line-index.ts";
import { parseYaml } from "../pack/read/parse-yaml.ts";
import { entryAt, type Node, toJson } from "../pack/read/tree.ts";
import { isKnownCode } from "../pack/select.ts";
import { ExitError, exits } from "./exit.ts";
import { readPackText } from "./read-file.ts";

export const CONFIG_NAME = "packloop.yaml";

const KEYS = [
  "model",
  "providers",
  "prices",
  "workspace",
  "tools",
  "approvals",
  "budgets",
  "secrets",
  "server",
  "telemetry",
  "retention",
  "waits",
  "check",
];
const CHECK_KEYS = ["severity", "ignore"];
const IGNORE_KEYS = ["code", "file", "pointer", "reason"];
const SEVERITIES = ["error", "warning", "info", "off"];

export interface Config {
  /** Where it was read; empty when there is none. */
  readonly file: string;
  readonly value: JsonObject;
  readonly severities: Readonly<Record<string, Severity | "off">>;
  readonly ignores: readonly IgnoreEntry[];
  /** `FILE:LINE:COLUMN` of a setting. */
  readonly place: (path: readonly (string | number)[]) => string;
}

export interface IgnoreEntry {
  readonly code: string;
  /** A glob over the file's path relative to the configuration's folder. */
  readonly file?: string;
  readonly pointer?: string;
}

const noConfig: Config = { file: "", value: {}, severities: {}, ignores: [], place: () => CONFIG_NAME };

/** The configuration for a pack: the given file, or the one in the pack's folder. */
export function configFor(pack: string, given: string | undefined, cache: Map<string, Config>): Config {
  const file = given ?? join(dirname(pack), CONFIG_NAME);
  let config = cache.get(file);
  if (config === undefined) {
    config = given === undefined && !existsSync(file) ? noConfig : readConfig(file);
    cache.set(file, config);
  }
  return config;
}

function readConfig(file: string): Config {
  const read = readPackText(file);
  const lines = new LineIndex(read.text);
  const fail = (at: number, message: string): never => {
    const { line, column } = lines.position(at);
    throw new ExitError(`${file}:${line}:${column}: ${message}`, exits.usage);
  };
  if (!read.ok) return fail(read.finding.span.start, read.finding.message);
  const stream = parseYaml(read.text);
  const [problem] = stream.findings;
  if (problem !== undefined) return fail(problem.span.start, `${problem.message}; ${problem.help}`);
  const [root] = stream.documents;
  if (root === undefined) return { ...noConfig, file };
  const value = toJson(root);
  if (!isObject(value)) return fail(root.span.start, "expected a mapping of settings");
  const reader = new ConfigReader(root, fail);
  reader.keys([], value, KEYS);
  return {
    file,
    value,
    severities: reader.severities(value["check"]),
    ignores: reader.ignores(value["check"]),
    place: (path) => {
      const { line, column } = lines.position(reader.nearest(path));
      return `${file}:${line}:${column}`;
    },
  };
}

class ConfigReader {
  readonly #root: Node;
  readonly #fail: (at: number, message: string) => never;

  constructor(root: Node, fail: (at: number, message: string) => never) {
    this.#root = root;
    this.#fail = fail;
  }

  keys(path: readonly (string | number)[], value: JsonObject, known: readonly string[]): void {
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue;
      const meant = suggest(key, known);
      const hint = meant === undefined ? `expected one of ${known.join(", ")}` : `did you mean \`${meant}\`?`;
      this.#fail(this.#at([...path, key]), `unknown key \`${key}\` (${hint})`);
    }
  }

  severities(check: Json | undefined): Readonly<Record<string, Severity | "off">> {
    const given = this.#section(check, "severity");
    const result: Record<string, Severity | "off"> = {};
    for (const [code, severity] of Object.entries(given)) {
      const path = ["check", "severity", code];
      if (!isKnownCode(code))
        this.#fail(this.#at(path), `PP903: \`${code}\` is not a code (see packloop explain --list)`);
      if (typeof severity !== "string" || !SEVERITIES.includes(severity)) {
        this.#fail(this.#at(path), `severity of \`${code}\` is one of ${SEVERITIES.join(", ")}`);
      }
      result[code] = severity as Severity | "off";
    }
    return result;
  }

  ignores(check: Json | undefined): readonly IgnoreEntry[] {
    const list = isObject(check) ? (check["ignore"] ?? []) : [];
    if (!Array.isArray(list)) return this.#fail(this.#at(["check", "ignore"]), "`check.ignore` is a list");
    return (list as readonly Json[]).map((entry, index) => this.#ignore(entry, ["check", "ignore", index]));
  }

  #ignore(entry: Json, path: readonly (string | number)[]): IgnoreEntry {
    if (!isObject(entry))
      return this.#fail(this.#at(path), "an ignore is a mapping with `code` and `reason`");
    this.keys(path, entry, IGNORE_KEYS);
    const { code, file, pointer, reason } = entry;
    if (typeof code !== "string" || !/^PP\d{3}$/.test(code) || !isKnownCode(code)) {
      return this.#fail(
        this.#at([...path, "code"]),
        `PP903: \`${String(code)}\` is not a code (see packloop explain --list)`,
      );
    }
    if (typeof reason !== "string" || reason.trim() === "") {
      return this.#fail(this.#at(path), `PP902: the ignore of \`${code}\` gives no \`reason\``);
    }
    return {
      code,
      ...(typeof file === "string" && { file }),
      ...(typeof pointer === "string" && { pointer }),
    };
  }

  #section(check: Json | undefined, name: string): JsonObject {
    if (check === undefined || check === null) return {};
    if (!isObject(check)) return this.#fail(this.#at(["check"]), "`check` is a mapping");
    this.keys(["check"], check, CHECK_KEYS);
    const section = check[name] ?? {};
    return isObject(section)
      ? section
      : this.#fail(this.#at(["check", name]), `\`check.${name}\` is a mapping`);
  }

  /** Where the setting is, or the innermost one around it that is in the file. */
  nearest(path: readonly (string | number)[]): number {
    for (let length = path.length; length > 0; length--) {
      const entry = entryAt(this.#root, path.slice(0, length));
      if (entry !== undefined) return entry.keySpan.start;
    }
    return this.#root.span.start;
  }

  #at(path: readonly (string | number)[]): number {
    return entryAt(this.#root, path)?.keySpan.start ?? this.#root.span.start;
  }
}

/** The ignores that hold for one file. */
export function ignoresFor(config: Config, pack: string): readonly IgnoreEntry[] {
  const from = relative(dirname(resolve(config.file)), resolve(pack))
    .split(sep)
    .join("/");
  return config.ignores.filter((entry) => entry.file === undefined || matchesGlob(from, entry.file));
}

/** What the rules need of the configuration, with a look at files beside the pack. */
export function checkConfigOf(config: Config, pack: string | undefined): CheckConfig {
  const { tools, approvals, waits } = config.value;
  return {
    tools: isObject(tools) ? tools : {},
    approvals: Array.isArray(approvals) ? approvals.filter((name) => typeof name === "string") : [],
    waitExpires: isObject(waits) && waits["expire_after"] !== undefined,
    ...(pack !== undefined && { probeFile: probeBeside(dirname(resolve(pack))) }),
  };
}

function probeBeside(folder: string): (path: string) => "inside" | "outside" | "missing" {
  return (path) => {
    const target = resolve(folder, path);
    if (isAbsolute(path) || leaves(folder, target)) return "outside";
    if (!existsSync(target)) return "missing";
    return leaves(realpathSync(folder), realpathSync(target)) ? "outside" : "inside";
  };
}

function leaves(folder: string, target: string): boolean {
  const from = relative(folder, target);
  return from === ".." || from.startsWith(`..${sep}`) || isAbsolute(from);
}
