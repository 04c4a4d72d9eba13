// The commit that an artifact of a run points to, from the folder that the run worked in. Nothing of the
// request goes to git: what is looked for is what the run itself wrote.

import { realpath } from "node:fs/promises";
import { runCommit } from "../adapter/tool/git/run-commit.ts";
import { answerOf, errorCode } from "../adapter/tool/tool-problem.ts";
import type { Json } from "../base/json.ts";
import { fold } from "../core/apply.ts";
import type { Outcome } from "../core/facts.ts";
import type { Run } from "../core/run.ts";
import type { Store } from "../engine/ports.ts";

export interface CommitPlace {
  readonly id: string;
  readonly run: Run;
  readonly name: string;
  readonly workspaceOf: (run: string) => string;
  readonly env: (name: string) => string | undefined;
  readonly now: number;
}

const TIMEOUT_MS = 20_000;
/** Forks of forks that are gone back through. */
const FORKS_MAX = 20;

/** Agents work for the run that called them, and a fork shows what the run before it has made. */
export async function artifactCommit(store: Store, place: CommitPlace): Promise<Outcome> {
  const { id, run, name, workspaceOf, env, now } = place;
  const runs = [id, ...(await originsOf(store, run))];
  const roots = new Set(runs.map(rootOf));
  const isOurs = (one: string): boolean => roots.has(rootOf(one));
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let last: Outcome = { ok: false, code: "not_found", message: "the folder that the run worked in is gone" };
  for (const one of runs) {
    const workspace = await folderOf(workspaceOf(one));
    if (workspace === undefined) continue;
    const git = { workspace, identity: { name: "packloop", email: "packloop@localhost" }, env, now, signal };
    const answer = await answerOf((): Promise<Json> => runCommit(git, { name, isOurs }));
    if (!("ok" in answer)) continue;
    if (answer.ok) return answer;
    last = answer;
  }
  return last;
}

const rootOf = (run: string): string => run.split("/", 1)[0] ?? run;

async function originsOf(store: Store, run: Run): Promise<readonly string[]> {
  const origins: string[] = [];
  for (let from = run.forkedFrom; from !== null && origins.length < FORKS_MAX; ) {
    origins.push(from.run);
    const stored = await store.loadAt(from.run, from.turn);
    from = stored === undefined ? null : fold(stored.rows, stored.snapshot).forkedFrom;
  }
  return origins;
}

/** Undefined when it is not there any more. */
async function folderOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
