// A run becomes a test of its pack, and the test passes: what it expects is what the run came to.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { Mistakes } from "../../src/cli/testing/document.ts";
import { readTests } from "../../src/cli/testing/read-tests.ts";
import { openPacks, runTests } from "../../src/cli/testing/run-tests.ts";
import { type ExportedTest, exportedTest } from "../../src/core/exported-test.ts";
import type { Summary } from "../../src/core/summary.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { knownRecord, storedProgram } from "../../src/host/stored-runs.ts";
import { tree } from "../agents/tree-pack.ts";
import { ends, pack, start } from "../server/sample-pack.ts";
import { type Served, served, temporaryFolder } from "../server/served.ts";
import { startedRun } from "../server/started-run.ts";

const script: JsonObject = {
  states: {
    work: [
      {
        text: "Let me see.",
        calls: [
          { tool: "look", args: { where: "here" } },
          { tool: "look", args: { where: "there" } },
        ],
        usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.01 },
      },
      { artifacts: { note: "seen" }, event: "Ask", context: "please" },
      {
        calls: [
          { tool: "workflow__set_artifact", args: { name: "note", value: "no" } },
          { tool: "look", args: { where: "again" } },
        ],
      },
      { artifacts: { note: "again", data: { ["__proto__"]: 1 } }, event: "Done" },
    ],
    end: [{ text: "Goodbye." }],
  },
  tools: { look: [{ ok: { light: "on" } }, { error: "dark" }, { ok: [1, "two"] }] },
};

async function testOf(server: Served, run: string): Promise<ExportedTest> {
  const { turn, digest } = await knownRecord(server.store, run);
  const rows = await server.store.rows(run, { from: 1, to: turn, limit: turn });
  const program = await storedProgram(server.store, digest);
  return exportedTest({ id: run, program, rows, pack: "served.pack.yaml" });
}

/** What the runner of tests says of the file: differences of its one test. */
async function played(file: string): Promise<readonly unknown[]> {
  const mistakes = new Mistakes();
  const tests = readTests([file], {}, mistakes);
  const packs = openPacks(tests, mistakes);
  expect(mistakes).toEqual(new Mistakes());
  const [result] = await runTests(tests, { packs, jobs: 1 });
  return result?.differences ?? ["nothing was played"];
}

describe("a run as a test", () => {
  test("with tools, people and approvals it is played again and comes to the same", async () => {
    const folder = temporaryFolder();
    const server = await served({ folder, settings: { ...noSettings(folder), approvals: ["look"] } });
    const run = await startedRun(server, start(script, { budgets: { max_total_visits: 9 }, input: "go" }));
    const waits = async (count: number): Promise<Summary["waiting_for"]> =>
      (await server.until(run, ({ waiting_for: waiting }) => waiting.length === count)).waiting_for;
    const [one, two] = await waits(2);
    const decide = (step: number | undefined, decision: JsonObject) =>
      server.post(`/api/runs/${run}/approvals/${step}`, { ...decision, by: "alice" });
    await decide(one?.step, { decision: "approve" });
    await decide(two?.step, { decision: "reject", reason: "once is enough" });
    await server.until(run, ({ state }) => state === "gate");
    await server.post(`/api/runs/${run}/events`, { name: "No", by: "bob", context: "not yet" });
    const [three] = await waits(1);
    await decide(three?.step, { decision: "approve" });
    await server.until(run, ({ status }) => status === "completed");
    const made = await testOf(server, run);
    const file = join(folder, "again.test.json");
    writeFileSync(join(folder, "served.pack.yaml"), pack);
    writeFileSync(file, made.ok ? made.text : made.why);
    const { tests } = JSON.parse(readFileSync(file, "utf8")) as { tests: JsonObject[] };
    expect(tests[0]).toMatchObject({
      budgets: { max_total_visits: 9 },
      approvals: ["look"],
      people: [
        { approve: "look", by: "alice" },
        { reject: "look", by: "alice", reason: "once is enough" },
        { send: "No", by: "bob", context: "not yet" },
        { approve: "look", by: "alice" },
      ],
      expect: {
        status: "completed",
        path: ["work", "gate", "work", "end"],
        output: { equals: "Goodbye." },
        artifacts: { note: { equals: "again" } },
      },
    });
    expect(await played(file)).toEqual([]);
    writeFileSync(file, readFileSync(file, "utf8").replace('"event": "Ask"', '"event": "Again"'));
    expect(await played(file)).not.toEqual([]);
  });

  test("what no test could play again is refused, and why is said", async () => {
    const server = await served();
    const refused = async (run: string) => {
      const made = await testOf(server, run);
      return made.ok ? "" : made.why;
    };
    const slow = { states: { work: [{ text: "…", delay_ms: 600_000 }] } };
    expect(await refused(await startedRun(server, start(slow)))).toContain("it is at work");
    const lead = { lead: [{ calls: [{ tool: "clerk", args: { query: "note" } }] }, { event: "Done" }] };
    const called = await startedRun(server, {
      pack: tree,
      script: { states: { ...lead, report: [{ text: "." }] }, prompts: { clerk: [{ text: "noted" }] } },
    });
    await server.until(called, ({ status }) => status === "completed");
    expect(await refused(called)).toContain("it called agents");
    expect(await refused(`${called}/2`)).toContain("it is the run of an agent");
    const run = await startedRun(server, start(ends));
    await server.until(run, ({ status }) => status === "completed");
    const { body } = await server.post(`/api/runs/${run}/fork`, {
      turn: 2,
      edits: [{ artifact: "note", value: "other" }],
    });
    const fork = String(body["run"]);
    await server.until(fork, ({ status }) => status === "completed");
    expect(await refused(fork)).toContain("it was forked with edits");
  });
});
