// Commits that artifacts of runs point to: what a run changed in the folder it worked in.

import { z } from "@hono/zod-openapi";
import { commitNamed } from "../../core/commit-name.ts";
import { artifactsOf } from "../../core/summary.ts";
import { loadedRun } from "../../host/stored-runs.ts";
import { Problem } from "../problem.ts";
import { type RouteRequest, route } from "../route.ts";
import { artifactCommit } from "../schemas/run-shapes.ts";
import { positiveText, runParams } from "../schemas/shared.ts";

const atQuery = z.strictObject({ at: positiveText.optional().openapi({ description: "After this turn." }) });

type CommitRequest = RouteRequest<
  { readonly id: string; readonly name: string },
  z.infer<typeof atQuery>,
  unknown
>;

const getCommit = route({
  method: "get",
  path: "/api/runs/{id}/artifacts/{name}/commit",
  name: "getCommit",
  tag: "history",
  summary: "The commit that an artifact points to, with what it changed",
  scope: "runs:read",
  params: runParams.extend({ name: z.string().min(1).max(500) }),
  query: atQuery,
  answers: {
    200: {
      description: "A commit that the tool `git` made for this run, from the folder the run works in.",
      schema: artifactCommit,
    },
  },
  problems: ["unknown-run", "unknown-turn", "unknown-artifact", "not-found"],
  async handle({ params, query }: CommitRequest, { store, worlds }) {
    const { id, turn, run } = await loadedRun(store, params.id, query.at);
    const { name } = params;
    const all = artifactsOf(run);
    if (!Object.hasOwn(all, name))
      throw new Problem("unknown-artifact", `run \`${id}\` has no artifact \`${name}\` at turn ${turn}`);
    const commit = commitNamed(all[name] ?? null);
    if (commit === null) throw new Problem("not-found", `the artifact \`${name}\` points to no commit`);
    const found = await worlds.commitOf(store, id, { run, name: commit });
    if (!found.ok) throw new Problem("not-found", found.message);
    return { status: 200, body: { run: id, turn, name, commit: found.value } };
  },
});

export const commitRoutes = [getCommit];
