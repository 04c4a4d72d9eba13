// A commit that a run made, for people who look at the run. Only commits that name the run in their last
// lines are shown: the repository may be a person's own and hold much else.

import type { Json } from "../../../base/json.ts";
import { CallArguments } from "../call-arguments.ts";
import { ToolProblem } from "../tool-problem.ts";
import { show } from "./look.ts";
import { Repository, type RepositoryPlace } from "./repository.ts";

export interface WantedCommit {
  /** As an artifact names it: a hash, or the beginning of one. */
  readonly name: string;
  /** Whether a run of that name counts as this one. */
  readonly isOurs: (run: string) => boolean;
}

const RESULT_BYTES = 1024 * 1024;

export async function runCommit(place: RepositoryPlace, { name, isOurs }: WantedCommit): Promise<Json> {
  const missing = new ToolProblem("not_found", `the run made no commit \`${name}\` that is still there`);
  if (!/^[0-9a-f]{7,64}$/.test(name)) throw missing;
  const repository = await Repository.look(place);
  const sha = await repository?.commitOf(name);
  // A branch may have the name that a hash begins with.
  if (repository === undefined || sha?.startsWith(name) !== true) throw missing;
  const format = "--format=%(trailers:key=Packloop-Run,valueonly,separator=%x2C)";
  const run = await repository.say("log", "--max-count=1", format, sha, "--");
  if (!isOurs(run.trim())) throw missing;
  const args = new CallArguments({ rev: sha }, new Map());
  return show({ repository, args, workspace: place.workspace, resultBytes: RESULT_BYTES });
}
