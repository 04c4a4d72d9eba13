// One commit of everything in the workspace. Its last lines name the run and the step, so a call that is
// repeated after a crash finds the commit it made and makes no second one (S46).

import type { Json } from "../../../base/json.ts";
import { ToolProblem } from "../tool-problem.ts";
import type { Repository } from "./repository.ts";

export interface CommitCall {
  readonly message: string;
  readonly run: string;
  readonly step: number;
}

const MESSAGE_MAX = 64 * 1024;
/** Only commits of calls still open are looked for, and those are recent. */
const LOOKED_AT = 200;

export async function commitAll(repository: Repository, call: CommitCall): Promise<Json> {
  if (call.message.length > MESSAGE_MAX)
    throw new ToolProblem("too_large", `a message has at most ${MESSAGE_MAX} characters`);
  const head = await repository.commitOf("HEAD");
  const made = head === undefined ? undefined : await commitOfStep(repository, call);
  if (made !== undefined) return changesOf(repository, made);
  // What packloop itself keeps is no part of the work. As a pattern, because git refuses to leave out a plain
  // name that the repository ignores already.
  const kept = [":(exclude,top).packlo[o]p/*", ":(exclude,top,glob)**/.packloop-*.tmp"];
  await repository.say("add", "--all", "--", ":(top)", ...kept);
  const staged = await repository.run("diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv");
  if (staged.exitCode === 0)
    return { sha: head ?? null, changed: false, files: 0, insertions: 0, deletions: 0 };
  await repository.say(
    "commit",
    "--quiet",
    "--no-verify",
    "--cleanup=whitespace",
    `--message=${textOf(call)}`,
  );
  return changesOf(repository, (await repository.commitOf("HEAD")) ?? "");
}

/** The trailers are a paragraph of their own: nothing in the message can pass for them. */
function textOf({ message, run, step }: CommitCall): string {
  const text = message.replaceAll("\0", "").trim() || `Step ${step}`;
  return `${text}\n\nPackloop-Run: ${run}\nPackloop-Step: ${step}`;
}

async function commitOfStep(repository: Repository, { run, step }: CommitCall): Promise<string | undefined> {
  const trailer = (key: string) => `%(trailers:key=${key},valueonly,separator=%x2C)`;
  const format = `--format=%H%x00${trailer("Packloop-Run")}%x00${trailer("Packloop-Step")}`;
  const log = await repository.say("log", `--max-count=${LOOKED_AT}`, format, "HEAD");
  for (const line of log.split("\n")) {
    const [sha, ofRun, ofStep] = line.split("\0");
    if (ofRun === run && ofStep === String(step)) return sha;
  }
  return undefined;
}

async function changesOf(repository: Repository, sha: string): Promise<Json> {
  const flags = ["--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--format="];
  const [files, insertions, deletions] = numbersOf(await repository.say("show", ...flags, sha, "--"));
  return { sha, changed: true, files, insertions, deletions };
}

function numbersOf(numstat: string): readonly [number, number, number] {
  const rows = numstat.split("\0").flatMap((row) => {
    const match = /^\n?(\d+|-)\t(\d+|-)\t/.exec(row);
    // Binary files have a dash for a number.
    return match === null ? [] : [[Number(match[1]) || 0, Number(match[2]) || 0] as const];
  });
  const sum = (at: 0 | 1) => rows.reduce((total, one) => total + one[at], 0);
  return [rows.length, sum(0), sum(1)];
}
