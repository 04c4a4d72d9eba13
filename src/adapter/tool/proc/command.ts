// Which command a call runs: the binding's `argv` with the call's values filled in, or a command of the call
// that begins like one under `allow`. Never a shell: every value is one argument. Values must not turn into
// options nor name something outside the workspace, unless the binding says that any text is meant.

import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { get, isObject, type Json } from "../../../base/json.ts";
import { isReserved } from "../fs/workspace-path.ts";
import type { OptionReader } from "../option-reader.ts";
import { errorCode, ToolProblem } from "../tool-problem.ts";
import { commandWords } from "./command-words.ts";

export type CommandOf = (args: Json, workspace: string) => Promise<readonly string[]>;

const ARGUMENTS_MAX = 1000;
const BYTES_MAX = 128 * 1024;

export function readCommand(reader: OptionReader): CommandOf {
  const fixed = wordsOf(reader.any("argv"));
  const listed = reader.any("allow");
  if (fixed === undefined && listed === undefined) {
    reader.neededText("argv");
  } else if (fixed?.length === 0) reader.wrong("argv", "`argv` is a list of texts, the program first");
  else if (fixed?.[0]?.match(HOLE))
    reader.wrong("argv", "the program in `argv` is not for the model to choose");
  const rules = readRules(reader, listed);
  return async (args, workspace) => {
    const given = givenCommand(args);
    const isListed = rules.length > 0 && (given !== undefined || fixed === undefined);
    const argv = isListed
      ? await listedCommand(rules, given, workspace)
      : await filledCommand(fixed ?? [], args, workspace);
    refuseOversized(argv);
    return argv;
  };
}

/** A text is taken apart at spaces; undefined when the option is absent, empty when it is wrong. */
function wordsOf(value: Json | undefined): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value.split(/\s+/).filter((word) => word !== "");
  const isList = Array.isArray(value) && value.every((word) => typeof word === "string");
  return isList ? value : [];
}

// ---- allow -------------------------------------------------------------------------------------------

interface Rule {
  readonly prefix: readonly string[];
  /** Written with `...` at the end. Then whatever arguments may follow. */
  readonly open: boolean;
}

function readRules(reader: OptionReader, listed: Json | undefined): readonly Rule[] {
  if (listed === undefined || listed === null) return [];
  const rules = (Array.isArray(listed) ? (listed as readonly Json[]) : []).map((entry): Rule => {
    const words = wordsOf(entry) ?? [];
    const open = words.at(-1) === "...";
    return { prefix: open ? words.slice(0, -1) : words, open };
  });
  const isWrong = rules.length === 0 || rules.some(({ prefix }) => prefix.length === 0 || prefix[0] === "*");
  if (isWrong) reader.wrong("allow", "`allow` is a list of commands, as [npm test, node --test ...]");
  return isWrong ? [] : rules;
}

/** As models give it: a list, a line, or a program and a list. */
function givenCommand(args: Json): readonly string[] | undefined {
  if (!isObject(args)) return undefined;
  const command = get(args, "argv") ?? get(args, "command") ?? get(args, "cmd");
  const rest = get(args, "args") ?? get(args, "arguments");
  if (command === undefined) return undefined;
  const words = typeof command === "string" ? commandWords(command) : textList(command);
  return rest === undefined ? words : [...words, ...textList(rest)];
}

function textList(value: Json): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new ToolProblem("bad_arguments", "the command is not a list of texts");
}

async function listedCommand(
  rules: readonly Rule[],
  argv: readonly string[] | undefined,
  workspace: string,
): Promise<readonly string[]> {
  if (argv === undefined) throw new ToolProblem("bad_arguments", "`argv` is missing");
  // The longest rule says most about the command.
  const fitting = rules
    .filter(({ prefix }) => prefix.every((word, index) => argv[index] === word))
    .toSorted((a, b) => b.prefix.length - a.prefix.length);
  const rule = fitting.find(({ open }) => open) ?? fitting[0];
  if (rule === undefined) {
    const known = rules.map(({ prefix }) => `\`${prefix.join(" ")}\``).join(", ");
    const shown = JSON.stringify(argv.join(" ").slice(0, 200)).slice(1, -1);
    throw new ToolProblem("not_allowed", `\`${shown}\` is not allowed (allowed are ${known})`);
  }
  if (!rule.open)
    for (const value of argv.slice(rule.prefix.length)) await refuseUnlessOperand(value, workspace);
  return argv;
}

// ---- argv --------------------------------------------------------------------------------------------

/** `{name}`, `{name?}` for one that may be missing, `{name:text}` for any text. */
const HOLE = /\{([A-Za-z_][\w-]*)(\?)?(:text)?\}/g;

async function filledCommand(
  parts: readonly string[],
  args: Json,
  workspace: string,
): Promise<readonly string[]> {
  const argv: string[] = [];
  for (const part of parts) {
    const holes = [...part.matchAll(HOLE)];
    const alone = holes[0]?.[0] === part;
    const values = new Map<string, readonly string[]>();
    for (const [hole, name, optional, anyText] of holes) {
      const found = valuesOf(args, name as string, optional !== undefined);
      for (const value of found) {
        if (anyText === undefined) await refuseUnlessOperand(value, workspace, !alone);
      }
      if (found.length !== 1 && !alone)
        throw new ToolProblem("bad_arguments", `\`${name}\` is not one value`);
      values.set(hole, found);
    }
    if (alone) argv.push(...(values.get(part) ?? []));
    else argv.push(part.replaceAll(HOLE, (hole) => values.get(hole)?.[0] ?? ""));
  }
  return argv;
}

function valuesOf(args: Json, name: string, optional: boolean): readonly string[] {
  const value = isObject(args) ? get(args, name) : undefined;
  if (value === undefined || value === null) {
    if (optional) return [];
    throw new ToolProblem("bad_arguments", `\`${name}\` is missing`);
  }
  const list: readonly Json[] = Array.isArray(value) ? value : [value];
  return list.map((one) => {
    if (typeof one === "string" || typeof one === "number" || typeof one === "boolean") return String(one);
    throw new ToolProblem("bad_arguments", `\`${name}\` is neither a text nor a list of texts`);
  });
}

// ---- what a value may be -----------------------------------------------------------------------------

async function refuseUnlessOperand(value: string, workspace: string, embedded = false): Promise<void> {
  const why = operandProblem(value, embedded) ?? (await pathProblem(value, workspace));
  if (why === undefined) return;
  const shown = JSON.stringify(value.slice(0, 200).toWellFormed()).slice(1, -1);
  throw new ToolProblem("not_allowed", `\`${shown}\` is not allowed as an argument: ${why}`);
}

function operandProblem(value: string, embedded: boolean): string | undefined {
  if (/[\p{Cc}\p{Cf}]/u.test(value)) return "it has invisible characters in it";
  if (!embedded && value.startsWith("-")) return "it would be taken for an option";
  if (/(^|[/\\=:,@])\.\.([/\\]|$)/.test(value)) return "it has `..` in it";
  if (value.startsWith("~") || /[=:,@](~|\/)/.test(value)) return "it names a place outside the workspace";
  if (/^[a-z]:|^\\\\|\\/i.test(value)) return "it names a drive or has a backslash in it";
  const names = value.split("/").filter((name) => name !== "" && name !== ".");
  return names.some((name, depth) => isReserved(name, depth))
    ? "git's and packloop's folders are kept"
    : undefined;
}

/** Where the value leads when it is a path, also over links. */
async function pathProblem(value: string, workspace: string): Promise<string | undefined> {
  const outside = "it leads out of the workspace";
  if (isAbsolute(value) && value !== workspace && !value.startsWith(`${workspace}/`)) return outside;
  let path = isAbsolute(value) ? value : join(workspace, value);
  while (path.length > workspace.length) {
    try {
      const real = await realpath(path);
      return real === workspace || real.startsWith(`${workspace}/`) ? undefined : outside;
    } catch (error) {
      const code = errorCode(error);
      if (code === "ELOOP") return outside;
      if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "ENAMETOOLONG") throw error;
      path = dirname(path);
    }
  }
  return undefined;
}

function refuseOversized(argv: readonly string[]): void {
  if (argv.length > ARGUMENTS_MAX) throw new ToolProblem("too_large", `more than ${ARGUMENTS_MAX} arguments`);
  const bytes = argv.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
  if (bytes > BYTES_MAX) throw new ToolProblem("too_large", `arguments of more than ${BYTES_MAX} bytes`);
  if (argv.some((word) => word.includes("\0")))
    throw new ToolProblem("not_allowed", "an argument has a zero character in it");
}
