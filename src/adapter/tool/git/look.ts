// Looking at the repository: what changed, what a commit did, which commits there are.

import type { Json } from "../../../base/json.ts";
import type { CallArguments } from "../call-arguments.ts";
import { clipped } from "../fs/fs-call.ts";
import { namesOf } from "../fs/workspace-path.ts";
import { ToolProblem } from "../tool-problem.ts";
import type { Repository } from "./repository.ts";

export interface Look {
  readonly repository: Repository;
  readonly args: CallArguments;
  readonly workspace: string;
  readonly resultBytes: number;
}

const PLAIN = ["--no-ext-diff", "--no-textconv", "--no-color"];
const ENTRIES_MAX = 2000;

/** Between two commits, or from one to the files as they are. */
export async function diff({ repository, args, workspace, resultBytes }: Look): Promise<Json> {
  const [from, to] = [args.text("from"), args.text("to")];
  const first = await repository.commitOf(from ?? "HEAD");
  if (first === undefined && from !== undefined) throw noCommit(from);
  const second = to === undefined ? [] : [await commit(repository, to)];
  const text = await repository.say(
    "diff",
    ...PLAIN,
    first ?? EMPTY_TREE,
    ...second,
    ...pathspec(args, workspace),
  );
  const others = ["--others", "--exclude-standard", "-z"];
  const untracked =
    to === undefined ? await repository.say("ls-files", ...others, ...pathspec(args, workspace)) : "";
  return { ...cut("diff", text, resultBytes), ...listed("untracked", untracked.split("\0")) };
}

/** Git's name for a tree without files. */
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** A commit with what it changed, or a file as it was in it. */
export async function show({ repository, args, workspace, resultBytes }: Look): Promise<Json> {
  const sha = await commit(repository, args.text("rev") ?? "HEAD");
  const path = args.text("path");
  if (path !== undefined) {
    const name = namesOf(path, workspace).join("/");
    const end = await repository.run("show", ...PLAIN, `${sha}:${name}`);
    if (end.exitCode !== 0)
      throw new ToolProblem("not_found", `\`${path}\` is not in commit ${sha.slice(0, 12)}`);
    return { sha, path: name, ...cut("content", end.stdout, resultBytes) };
  }
  const format = "--format=%an%x00%aI%x00%B%x00";
  const text = await repository.say("show", ...PLAIN, format, sha, "--");
  const [author = "", date = "", message = "", ...rest] = text.split("\0");
  const changes = rest.join("\0").replace(/^\n+/, "");
  return { sha, author, date, message: message.trim(), ...cut("diff", changes, resultBytes) };
}

export async function log({ repository, args, workspace }: Look): Promise<Json> {
  const head = await repository.commitOf(args.text("rev") ?? "HEAD");
  if (head === undefined) return { commits: [] };
  const limit = args.count("limit", { least: 1, most: ENTRIES_MAX }) ?? 20;
  const format = "--format=%H%x00%an%x00%aI%x00%s";
  const text = await repository.say(
    "log",
    `--max-count=${limit}`,
    format,
    head,
    ...pathspec(args, workspace),
  );
  const commits = text.split("\n").flatMap((line): Json[] => {
    const [sha = "", author = "", date = "", subject = ""] = line.split("\0");
    return sha === "" ? [] : [{ sha, author, date, subject: subject.slice(0, 200) }];
  });
  return { commits };
}

export async function status({ repository, args, workspace }: Look): Promise<Json> {
  const flags = ["--porcelain", "-z", "--no-renames", "--untracked-files=all"];
  const text = await repository.say("status", ...flags, ...pathspec(args, workspace));
  const entries = text.split("\0").filter((entry) => entry !== "");
  const changes = entries.slice(0, ENTRIES_MAX).map((entry) => ({
    path: entry.slice(3),
    change: WORDS[entry.slice(0, 2).trim()[0] ?? ""] ?? "changed",
  }));
  const more = entries.length - changes.length;
  const sha = (await repository.commitOf("HEAD")) ?? null;
  return { sha, clean: entries.length === 0, changes, ...(more > 0 && { left_out: more }) };
}

const WORDS: Readonly<Record<string, string>> = {
  "?": "untracked",
  A: "added",
  D: "deleted",
  M: "changed",
  U: "in conflict",
};

async function commit(repository: Repository, name: string): Promise<string> {
  const sha = await repository.commitOf(name);
  if (sha === undefined) throw noCommit(name);
  return sha;
}

const noCommit = (name: string): ToolProblem =>
  new ToolProblem("not_found", `there is no commit \`${name}\``);

/** packloop's own folder may lie in the workspace and is not shown. */
function pathspec(args: CallArguments, workspace: string): readonly string[] {
  const path = args.text("path");
  const names = path === undefined ? [] : namesOf(path, workspace);
  return [
    "--",
    names.length === 0 ? ":(top)" : `:(top,literal)${names.join("/")}`,
    ":(exclude,top).packloop",
  ];
}

function cut(key: string, text: string, bytes: number): Record<string, Json> {
  const kept = clipped(text, bytes - 1024);
  const left = Buffer.byteLength(text) - Buffer.byteLength(kept);
  return { [key]: kept, ...(left > 0 && { left_out: `${left} bytes` }) };
}

function listed(key: string, names: readonly string[]): Record<string, Json> {
  const found = names.filter((name) => name !== "");
  if (found.length === 0) return {};
  const more = found.length - ENTRIES_MAX;
  return { [key]: found.slice(0, ENTRIES_MAX), ...(more > 0 && { [`${key}_left_out`]: more }) };
}
