// Looking at files: list, read and glob.

import type { Dirent } from "node:fs";
import type { Json } from "../../../base/json.ts";
import { ToolProblem } from "../tool-problem.ts";
import { clipped, Entries, type FsCall } from "./fs-call.ts";
import { globPattern } from "./glob-pattern.ts";
import { atFile, atFolder } from "./reach.ts";
import { textLines } from "./text-lines.ts";
import { DEPTH_MAX, walk } from "./walk.ts";

/** Entries looked at in one call; past it the rest is neither shown nor counted. */
export const VISITED_MAX = 100_000;
const LINES_MAX = Number.MAX_SAFE_INTEGER;

export async function list({ args, workspace, context, limits }: FsCall): Promise<Json> {
  const path = args.text("path") ?? ".";
  const depth = args.flag("recursive") === true ? DEPTH_MAX : 1;
  return atFolder(workspace, path, async (folder, names) => {
    const entries = new Entries(limits);
    let visited = 0;
    for await (const found of walk(folder, names, { signal: context.signal, skip: limits.skip, depth })) {
      if (++visited > VISITED_MAX) break;
      const { entry } = found;
      const stats = entry.isFile() && !entries.full ? await found.folder.entry(entry.name) : undefined;
      const bytes = stats?.isFile() === true ? { bytes: stats.size } : {};
      entries.add({ path: found.names.join("/"), type: typeOf(entry), ...bytes });
    }
    return { path: names.join("/") || ".", entries: entries.items, ...rest(entries, visited) };
  });
}

export async function glob({ args, workspace, context, limits }: FsCall): Promise<Json> {
  const matches = globPattern(args.neededText("pattern"));
  const options = { signal: context.signal, skip: limits.skip, depth: DEPTH_MAX };
  return atFolder(workspace, args.text("path") ?? ".", async (folder, names) => {
    const paths = new Entries(limits, args.count("limit", { least: 1, most: LINES_MAX }));
    let visited = 0;
    for await (const { entry, names: path } of walk(folder, names, options)) {
      if (++visited > VISITED_MAX) break;
      // A pattern is meant from the folder that is searched, or from the workspace.
      const isMatch = matches(path.slice(names.length)) || matches(path);
      if (!entry.isDirectory() && isMatch) paths.add(path.join("/"));
    }
    return { paths: paths.items, ...rest(paths, visited) };
  });
}

function typeOf(entry: Dirent): string {
  if (entry.isDirectory()) return "folder";
  if (entry.isFile()) return "file";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** What was left out, when anything was. */
export function rest({ leftOut }: Entries, visited: number): Record<string, Json> {
  return {
    ...(leftOut > 0 && { left_out: leftOut }),
    ...(visited > VISITED_MAX && { incomplete: `only the first ${VISITED_MAX} entries were looked at` }),
  };
}

export async function read({ args, workspace, context, limits }: FsCall): Promise<Json> {
  const path = args.neededText("path");
  const offset = Math.max(1, args.count("offset", { least: 0, most: LINES_MAX }) ?? 1);
  const limit = args.count("limit", { least: 1, most: LINES_MAX }) ?? LINES_MAX;
  return atFile(workspace, path, async ({ folder, name, names }) => {
    if ((await folder.entry(name)) === undefined)
      throw new ToolProblem("not_found", `\`${path}\` does not exist`);
    const file = await folder.file(name);
    try {
      const piece = new Piece(limits.resultBytes);
      let number = 0;
      for await (const line of textLines(file, context.signal)) {
        number++;
        if (number >= offset && number < offset + limit)
          piece.add(line.text + (line.ended ? "\n" : ""), line.cut);
      }
      if (offset > 1 && offset > number)
        throw new ToolProblem("bad_arguments", `\`${path}\` has only ${number} lines`);
      const last = offset + piece.lines - 1;
      const whole = offset === 1 && piece.lines === number;
      return {
        path: names.join("/"),
        content: piece.text,
        lines: number,
        ...(!whole && { from: offset, to: last, left_out: `${number - piece.lines} of ${number} lines` }),
        ...(piece.cut > 0 && { cut: `${piece.cut} bytes at the end of long lines` }),
      };
    } finally {
      await file.close();
    }
  });
}

/** Lines from one on, as many as fit into a result once they are written as JSON. */
class Piece {
  lines = 0;
  cut = 0;
  readonly #texts: string[] = [];
  #room: number;
  #full = false;

  constructor(resultBytes: number) {
    this.#room = resultBytes - 1024;
  }

  get text(): string {
    return this.#texts.join("");
  }

  add(line: string, cut: number): void {
    if (this.#full) return;
    const bytes = jsonBytes(line);
    this.#full = bytes > this.#room;
    // A first line that is too long alone is shown in part: nothing at all would help nobody.
    if (this.#full && this.lines > 0) return;
    const shown = this.#full
      ? clipped(line, Math.floor((this.#room * Buffer.byteLength(line)) / bytes))
      : line;
    this.cut += cut + Buffer.byteLength(line) - Buffer.byteLength(shown);
    this.lines++;
    this.#texts.push(shown);
    this.#room -= bytes;
  }
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;
