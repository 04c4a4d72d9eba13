// The built-in tool `fs`: list, read, glob and grep, write and edit, inside the run's workspace.

import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../../base/json.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { argumentReader, type Spellings } from "../call-arguments.ts";
import { operationOption } from "../operation-option.ts";
import type { OptionReader } from "../option-reader.ts";
import { answerOf } from "../tool-problem.ts";
import { edit, write } from "./change-files.ts";
import { ChangeLog } from "./change-log.ts";
import type { FsLimits, FsOperation } from "./fs-call.ts";
import { inRunOrder } from "./in-turn.ts";
import { glob, list, read } from "./read-files.ts";
import { grep } from "./search-files.ts";

const MB = 1024 * 1024;

const OPERATIONS = { list, read, write, edit, glob, grep } as const satisfies Record<string, FsOperation>;
type OperationName = keyof typeof OPERATIONS;

export function bindFs(reader: OptionReader, around: Surroundings): BoundTool {
  const op = operationOption<OperationName>(reader, ["list", "read", "write", "edit", "glob", "grep"]);
  const limits = readLimits(reader);
  const argumentsOf = argumentReader(reader, SPELLINGS[op]);
  const changes = op === "write" || op === "edit";
  return {
    tier: changes ? "write" : "read",
    // Reading does no harm; a change that has happened is found in the log.
    safe: true,
    definition: DEFINITIONS[op],
    call: (args, context) =>
      inRunOrder(context.run, () =>
        answerOf(async () =>
          OPERATIONS[op]({
            args: argumentsOf(args),
            workspace: await realpath(await around.workspaceOf(context.run)),
            context,
            limits,
            changes: new ChangeLog(around.notes ?? join(around.folder, ".packloop"), context.run),
          }),
        ),
      ),
  };
}

function readLimits(reader: OptionReader): FsLimits {
  return {
    resultBytes: reader.number("max_result_bytes", { least: 4096, most: 10 * MB }) ?? 256 * 1024,
    entries: reader.number("max_entries", { least: 1, most: 100_000 }) ?? 2000,
    quotaBytes: reader.number("quota_bytes", { least: 0, most: 1024 * 1024 * MB }) ?? 100 * MB,
    skip: new Set(reader.texts("skip") ?? ["node_modules"]),
    regex: reader.flag("regex") ?? false,
  };
}

const PATH = ["file_path", "filepath", "filename", "file", "target_file", "relative_path", "name"];
const FOLDER = ["dir", "directory", "folder", "dir_path", "relative_path", "root", "cwd"];
const LIMIT = ["max_results", "head_limit", "max", "num_lines"];

const SPELLINGS: Readonly<Record<OperationName, Spellings>> = {
  list: { path: FOLDER, recursive: ["recurse"] },
  read: { path: PATH, offset: ["start_line", "from_line", "from", "line"], limit: ["lines", ...LIMIT] },
  write: { path: PATH, content: ["contents", "text", "data", "file_text", "body", "code"] },
  edit: {
    path: PATH,
    old: ["old_string", "old_str", "old_text", "search", "find"],
    new: ["new_string", "new_str", "new_text", "replace", "replacement"],
    all: ["replace_all", "replaceAll", "global"],
  },
  glob: { pattern: ["glob", "glob_pattern", "query"], path: FOLDER, limit: LIMIT },
  grep: {
    pattern: ["query", "text", "search", "regexp", "q"],
    path: [...FOLDER, "file", "file_path"],
    glob: ["include", "file_pattern", "files"],
    regex: ["is_regex", "use_regex"],
    ignore_case: ["case_insensitive", "ignoreCase", "i"],
    limit: LIMIT,
  },
};

const text = (description: string): JsonObject => ({ type: "string", description });
const count = (description: string): JsonObject => ({ type: "integer", minimum: 1, description });
const flag = (description: string): JsonObject => ({ type: "boolean", description });
const path = text("path inside the workspace");

const takes = (
  description: string,
  properties: JsonObject,
  required: readonly string[] = [],
): { readonly description: string; readonly parameters: JsonObject } => ({
  description,
  parameters: { type: "object", properties, required },
});

const DEFINITIONS = {
  list: takes("Lists a folder of the workspace.", { path, recursive: flag("also what is in its folders") }),
  read: takes(
    "Reads a text file of the workspace, whole or some lines of it.",
    { path, offset: count("first line, from 1"), limit: count("how many lines") },
    ["path"],
  ),
  write: takes(
    "Writes a file of the workspace; what was in it before is gone.",
    { path, content: text("the whole new content") },
    ["path", "content"],
  ),
  edit: takes(
    "Replaces a piece of text in a file of the workspace. The old text must be there exactly once.",
    { path, old: text("text to replace"), new: text("text instead"), all: flag("replace it everywhere") },
    ["path", "old", "new"],
  ),
  glob: takes(
    "Finds files of the workspace by a pattern such as src/**/*.ts.",
    { pattern: text("pattern of paths"), path: text("folder to start from") },
    ["pattern"],
  ),
  grep: takes(
    "Finds lines in the files of the workspace.",
    {
      pattern: text("text to look for"),
      path: text("file or folder to look in"),
      glob: text("only files with such paths"),
      regex: flag("the pattern is a regular expression"),
      ignore_case: flag("upper and lower case are the same"),
    },
    ["pattern"],
  ),
} as const satisfies Record<OperationName, NonNullable<BoundTool["definition"]>>;
