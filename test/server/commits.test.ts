// Commits that artifacts point to: shown when the run made them, and nothing else of any repository.

import { execFileSync } from "node:child_process";
import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { commits, committing, committingTools, hasGit, secret } from "./committing-pack.ts";
import { start } from "./sample-pack.ts";
import { type Served, served, temporaryFolder } from "./served.ts";
import { startedRun } from "./started-run.ts";

async function committed(workspace: string | null = null): Promise<{ server: Served; run: string }> {
  const folder = temporaryFolder();
  const server = await served({
    folder,
    settings: { ...noSettings(folder), tools: committingTools, workspace },
  });
  const run = await startedRun(server, { ...start(commits), pack: committing });
  await server.until(run, ({ status }) => status === "completed");
  return { server, run };
}

const commitOf = (server: Served, run: string, artifact = "data") =>
  server.get(`/api/runs/${encodeURIComponent(run)}/artifacts/${artifact}/commit`);

/** A run that wrote this, and did nothing else. */
async function naming(server: Served, note: string): Promise<string> {
  const says = { states: { work: [{ artifacts: { note }, event: "Done" }], end: [{ text: "." }] } };
  const run = await startedRun(server, { ...start(says), pack: committing });
  await server.until(run, ({ status }) => status === "completed");
  return run;
}

describe.skipIf(!hasGit)("commits of runs", () => {
  test("the commit that an artifact points to is shown with what it changed, without secrets", async () => {
    const { server, run } = await committed();
    const { status, body } = await commitOf(server, run);
    expect(status).toBe(200);
    const commit = body["commit"] as Readonly<Record<string, string>>;
    expect(commit["message"]).toContain("Say hello");
    expect(commit["diff"]).toContain("+hello");
    expect(JSON.stringify(body)).not.toContain(secret);
    const { artifacts } = (await server.get(`/api/runs/${run}/artifacts`)).body;
    expect(commit["sha"]).toBe(((artifacts as JsonObject)["data"] as JsonObject)["sha"]);
    // A fork shows what the run before it has made.
    const { body: fork } = await server.post(`/api/runs/${run}/fork`, { turn: 5 });
    const forked = await commitOf(server, String(fork["run"]));
    expect(forked.status === 200 ? forked.body["commit"] : forked.body).toEqual(commit);
  });

  test("what is no commit of the run is not shown, whatever an artifact says", async () => {
    const workspace = temporaryFolder();
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-c", "user.name=p", "-c", "user.email=p@localhost", ...args], {
        cwd: workspace,
        encoding: "utf8",
      }).trim();
    git("init", "-q");
    writeFileSync(join(workspace, "own.txt"), "a person's own\n");
    git("add", ".");
    git("commit", "-q", "-m", "Own work");
    const own = git("rev-parse", "HEAD");
    const { server, run } = await committed(workspace);
    const made = git("rev-parse", "HEAD");
    expect((await commitOf(server, run)).status).toBe(200);
    git("branch", "abcdef0", made);
    // Whoever looks changes nothing, not even what a git that was killed has left.
    const lock = join(workspace, ".git", "index.lock");
    writeFileSync(lock, "");
    utimesSync(lock, 1, 1);
    expect([(await commitOf(server, run)).status, existsSync(lock)]).toEqual([200, true]);
    for (const note of [own.slice(0, 10), made, "abcdef0", "--output=x"]) {
      const { status, body } = await commitOf(server, await naming(server, note), "note");
      expect([note, status, body["code"]]).toEqual([note, 404, "not-found"]);
    }
    expect((await commitOf(server, run, "none")).body["code"]).toBe("unknown-artifact");
  });
});
