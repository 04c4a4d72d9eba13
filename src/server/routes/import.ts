// A run from a file that `packloop export` wrote. Its journal says what was decided and by whom, and nobody
// here can tell whether that is so: only who may do everything may bring one.

import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../base/json.ts";
import { readRunFile } from "../../host/run-file.ts";
import { takeRun, whatIsMissing } from "../../host/take-run.ts";
import { Problem } from "../problem.ts";
import { takeUp } from "../recovery.ts";
import { type RouteRequest, route } from "../route.ts";
import { takenRuns } from "../schemas/run-shapes.ts";

const TYPE = "application/x-ndjson";

/** A run is checked as a whole, and held for that. */
const FILE_BYTES_MAX = 100_000_000;

const importRun = route({
  method: "post",
  path: "/api/runs/import",
  name: "importRun",
  tag: "runs",
  summary: "Take a run from a file of `packloop export`, with the runs of its agents, and go on with it",
  scope: "admin",
  otherBodies: { [TYPE]: z.string().openapi({ description: "The file as it is." }) },
  bodyBytesMax: FILE_BYTES_MAX,
  idempotent: true,
  answers: {
    200: { description: "It is here already.", schema: takenRuns },
    201: { description: "Taken.", schema: takenRuns, headers: { Location: "Where the run is." } },
  },
  problems: ["run-exists", "cannot-start"],
  async handle({ other }: RouteRequest<unknown, unknown, unknown>, parts) {
    if (other === undefined) throw new Problem("bad-request", `the request has no body (send ${TYPE})`);
    const read = readRunFile(other.bytes);
    if (!read.ok) throw new Problem("bad-request", `the body is not a run that can be taken: ${read.why}`);
    const { tree } = read;
    const { settings, store, worlds } = parts;
    // A run that could only fail here, for want of a model, is better left where it is.
    const lack = await whatIsMissing(worlds, tree, settings);
    if (lack !== undefined) throw new Problem("cannot-start", lack);
    const taken = await takeRun(store, tree, { settings: settings as unknown as JsonObject });
    if (!taken.ok) throw new Problem("run-exists", taken.why);
    for (const { run, turns, taken: fresh } of [...taken.agents, taken.run]) {
      if (fresh === 0) continue;
      parts.arrived(run, turns);
      takeUp(parts, run);
    }
    const location = `/api/runs/${encodeURIComponent(taken.run.run)}`;
    const body = { ...taken.run, ...(taken.agents.length > 0 && { agents: taken.agents }) };
    return taken.run.taken === 0 ? { status: 200, body } : { status: 201, body, headers: { location } };
  },
});

export const importRoutes = [importRun];
