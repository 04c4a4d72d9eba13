// kill -9 of a gateway that runs the real agent and the real tools, at random points: between any two steps of
// a job, in the middle of a commit, while a plugin runs, after it has answered (Q6, Q7, HZ-H, HZ-P).
// AGENT_KILLS sets how often the gateway is killed; GATEWAY_SEED which kills they are.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { get, type Json, type JsonObject } from "../../src/base/json.ts";
import type { Job } from "../../src/gateway/queue/job.ts";
import { attemptsOf, listJobs, stateOf } from "../../src/gateway/queue/jobs.ts";
import { agentFolder } from "./agent-folder.ts";
import { chance, gatewayProcess, runToEnd, startRun, withQueue } from "./gateway-process.ts";

const KILLS = Number(process.env["AGENT_KILLS"] ?? 100);
const SEED = Number(process.env["GATEWAY_SEED"] ?? Date.now() % 1_000_000);

/** Kills the gateway before or after the plugin's own program, where `kill-plan` says so, once. */
const around = `plan="$(dirname "$0")/../../kill-plan"
where=
if mv "$plan" "$plan.$$" 2> /dev/null; then read -r where < "$plan.$$"; rm "$plan.$$"; fi
if [ "$where" = begin ]; then kill -9 $PPID; fi
$REAL
if [ "$where" = printed ]; then kill -9 $PPID; fi`;

type Blow = { readonly diesAt: string } | { readonly plan: string } | { readonly afterMs: number };

function blowOf(random: () => number): Blow {
  const pick = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0];
  const where = pick(["before", "inside", "after"]);
  const nth = 1 + Math.floor(random() * 3);
  return pick<Blow>([
    // Around the note of what was started; between a plugin's exit and its commit, in the commit, and before
    // the next claim.
    { diesAt: `durable ${nth} ${where}` },
    { diesAt: `durable 2 ${where}` },
    // Around a claim.
    { diesAt: `quick ${nth} ${where}` },
    { plan: pick(["begin", "printed"]) },
    { afterMs: random() * 250 },
  ]);
}

/** When nothing is left to do, no transaction comes and nothing is started. */
const LATEST_MS = 4_000;

async function strike(folder: string, blow: Blow): Promise<void> {
  if ("plan" in blow) writeFileSync(join(folder, "kill-plan"), `${blow.plan}\n`);
  const gateway = gatewayProcess(folder, "stay", "diesAt" in blow ? blow.diesAt : "");
  await gateway.ready;
  const late = setTimeout(() => gateway.child.kill("SIGKILL"), "afterMs" in blow ? blow.afterMs : LATEST_MS);
  expect(await gateway.ended, gateway.text()).toBe("SIGKILL");
  clearTimeout(late);
  rmSync(join(folder, "kill-plan"), { force: true });
}

const many = { retry: { max_attempts: 500, backoff_base: "1ms" } };
const entries = Object.fromEntries(
  ["agentic-loop", "page-reader", "text-writer", "sink"].map((name) => [name, many]),
);

test(`the real agent's runs end once and right after ${KILLS} kills (seed ${SEED})`, {
  timeout: 60_000 + KILLS * 6_000,
}, async () => {
  const random = chance(SEED);
  const folder = agentFolder({ entries, around });
  let runs = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    withQueue(folder, (file) => {
      const open = listJobs(file, { limit: 10_000 }).filter(({ status }) => status !== "succeeded");
      expect(open.filter(({ status }) => status === "running").length).toBeLessThanOrEqual(1);
      while (open.length + runs < 2 || (open.length < 2 && random() < 0.5))
        startRun(file, `run-${runs++}`, "agentic-start");
    });
    await strike(folder, blowOf(random));
  }
  await runToEnd(folder);
  withQueue(folder, (file) => {
    const jobs = listJobs(file, { limit: 10_000 }).toReversed();
    expect(jobs.filter(({ status }) => status !== "succeeded")).toEqual([]);
    expect(jobs.some(({ attempt }) => attempt > 1)).toBe(true);
    // Done once: a job that was over is never taken up again, although doing so would do no harm.
    const successes = ({ id }: Job) => attemptsOf(file, id).filter(({ status }) => status === "succeeded");
    expect(jobs.filter((job) => successes(job).length !== 1)).toEqual([]);
    const state = JSON.parse(stateOf(file, "agentic-loop")) as Json;
    const names = Array.from({ length: runs }, (_, n) => `run-${n}`);
    const kept = get(state, "runs") as Readonly<Record<string, JsonObject>>;
    expect(Object.keys(kept).toSorted()).toEqual(names.toSorted());
    const trees = Map.groupBy(jobs, ({ rootJobId }) => rootJobId);
    expect(trees.size).toBe(runs);
    const ended = [...trees].map(([rootJob, tree]) => expectWhole(join(folder, "workspaces", rootJob), tree));
    expect(ended.toSorted()).toEqual(names.toSorted());
    for (const run of Object.values(kept))
      expect(run).toMatchObject({ status: "done", step: 2, completed_steps: [1, 2], attempt: 1, turn: 3 });
  });
});

/** One tree of jobs is one run: every job once and in order, one end, and the files that it names. */
function expectWhole(workspace: string, tree: readonly Job[]): string {
  const names = ["agentic-loop", "page-reader", "agentic-loop", "text-writer", "agentic-loop", "sink"];
  expect(tree.map(({ plugin }) => plugin)).toEqual(names);
  const end = get(tree.at(-1)?.payload, "payload") as JsonObject;
  expect(end).toMatchObject({ steps_taken: 2, outcome: expect.stringContaining("critique") });
  const artifacts = end["artifacts"] as readonly string[];
  expect(artifacts).toContain("artifacts/critique.md");
  for (const path of artifacts) expect(readFileSync(join(workspace, path), "utf8").trim()).not.toBe("");
  const memory = readFileSync(join(workspace, "memory.md"), "utf8");
  expect(memory).toContain("- [step 1] the text of the page is the result of step 1\n");
  return String(end["run_id"]);
}
