// Looking into files: grep. A pattern is a plain text unless the call or the binding says it is a regular
// expression; those are refused when their time outgrows the text, and stopped when they take long anyway.

import { must } from "../../../base/assert.ts";
import type { Json } from "../../../base/json.ts";
import { parsePattern } from "../../../base/regex-syntax.ts";
import { isSuperLinear } from "../../../base/super-linear.ts";
import type { CallArguments } from "../call-arguments.ts";
import { withinTime } from "../time-limit.ts";
import { errorCode, ToolProblem } from "../tool-problem.ts";
import type { Folder } from "./folder.ts";
import { clipped, Entries, type FsCall } from "./fs-call.ts";
import { globPattern, type PathTest } from "./glob-pattern.ts";
import { atFile, atFolder } from "./reach.ts";
import { rest, VISITED_MAX } from "./read-files.ts";
import { textLines } from "./text-lines.ts";
import { DEPTH_MAX, walk } from "./walk.ts";

const PATTERN_MAX = 1000;
/** Of each line; a match further right is not found. */
const LOOKED_AT = 10_000;
const SHOWN = 500;
const BATCH = 2000;
const BATCH_MS = 1000;

type LineTest = (lines: readonly string[]) => readonly boolean[];

export async function grep(call: FsCall): Promise<Json> {
  const { args, workspace, limits } = call;
  const test = lineTest(args, limits.regex);
  const path = args.text("path") ?? ".";
  const wanted = args.text("glob");
  const search: Search = {
    call,
    test,
    matches: new Entries(limits, args.count("limit", { least: 1, most: Number.MAX_SAFE_INTEGER })),
    isWanted: wanted === undefined ? () => true : globPattern(wanted),
  };
  const single = await atFile(workspace, path, async ({ folder, name, names }) => {
    if ((await folder.entry(name))?.isFile() !== true) return false;
    await searchFile(search, { folder, name, path: names.join("/") });
    return true;
  }).catch((error: unknown) => {
    // The workspace itself is no file, and no mistake either.
    if (error instanceof ToolProblem && error.code === "not_a_file") return false;
    throw error;
  });
  const visited = single ? 1 : await searchFolder(search, path);
  return { matches: search.matches.items, ...rest(search.matches, visited) };
}

interface Search {
  readonly call: FsCall;
  readonly test: LineTest;
  readonly matches: Entries;
  readonly isWanted: PathTest;
}

async function searchFolder(search: Search, path: string): Promise<number> {
  const { workspace, context, limits } = search.call;
  const options = { signal: context.signal, skip: limits.skip, depth: DEPTH_MAX };
  return atFolder(workspace, path, async (start, names) => {
    let visited = 0;
    for await (const { folder, entry, names: path } of walk(start, names, options)) {
      if (++visited > VISITED_MAX) break;
      const isWanted = search.isWanted(path) || search.isWanted(path.slice(names.length));
      if (entry.isFile() && isWanted)
        await searchFile(search, { folder, name: entry.name, path: path.join("/") }).catch(skipUnreadable);
    }
    return visited;
  });
}

function skipUnreadable(error: unknown): void {
  const isUnreadable = ["ENOENT", "ELOOP", "EACCES", "EPERM"].includes(errorCode(error) ?? "");
  const isOther = error instanceof ToolProblem && ["not_text", "not_a_file"].includes(error.code);
  if (!isUnreadable && !isOther) throw error;
}

async function searchFile(
  { call, test, matches }: Search,
  { folder, name, path }: { readonly folder: Folder; readonly name: string; readonly path: string },
): Promise<void> {
  const file = await folder.file(name);
  let batch: string[] = [];
  let line = 1;
  const look = (): void => {
    for (const [index, hit] of test(batch).entries()) {
      if (hit)
        matches.add({ path, line: line + index, text: clipped(must(batch[index], "a tested line"), SHOWN) });
    }
    line += batch.length;
    batch = [];
  };
  try {
    for await (const { text } of textLines(file, call.context.signal)) {
      batch.push(text.slice(0, LOOKED_AT).replace(/\r$/, ""));
      if (batch.length >= BATCH) look();
    }
    look();
  } finally {
    await file.close();
  }
}

function lineTest(args: CallArguments, regexByDefault: boolean): LineTest {
  const pattern = args.neededText("pattern");
  const ignoresCase = args.flag("ignore_case") === true;
  if (pattern.length > PATTERN_MAX)
    throw new ToolProblem("bad_arguments", `the pattern has more than ${PATTERN_MAX} characters`);
  if (!(args.flag("regex") ?? regexByDefault)) {
    const fold = (text: string) => (ignoresCase ? text.toLowerCase() : text);
    const wanted = fold(pattern);
    return (lines) => lines.map((line) => fold(line).includes(wanted));
  }
  const expression = checkedExpression(pattern, ignoresCase ? "iu" : "u");
  const limit = { ms: BATCH_MS, what: `the pattern \`${pattern}\`` };
  return (lines) => withinTime(limit, () => lines.map((line) => expression.test(line)));
}

function checkedExpression(pattern: string, flags: string): RegExp {
  if (parsePattern(pattern) === undefined || isSuperLinear(pattern))
    throw new ToolProblem(
      "bad_arguments",
      `the pattern \`${pattern}\` could take too long (use fewer nested or neighbouring repetitions)`,
    );
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The strict grammar refuses escapes that people write without need, as `\-`.
    return looseExpression(pattern, flags.replace("u", ""));
  }
}

function looseExpression(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ToolProblem("bad_arguments", `the pattern \`${pattern}\` is no regular expression`, {
      cause: error,
    });
  }
}
