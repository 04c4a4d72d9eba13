// Gateways that die: nothing is lost, nothing is done twice, and nothing they started lives on (6.6, 6.7).
// GATEWAY_KILLS sets how often the gateway is killed; GATEWAY_SEED which kills they are.

import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { startOf } from "../../src/gateway/process-identity.ts";
import { attemptsOf, listJobs, stateOf } from "../../src/gateway/queue/jobs.ts";
import { noticesAfter } from "../../src/gateway/queue/notices.ts";
import { gatewayFolder, openGateway, shellPlugin } from "./gateway-folder.ts";
import { chance, gatewayProcess, runToEnd, startRun, withQueue } from "./gateway-process.ts";
import { loopPipelines, loopPlugins } from "./loop-parts.ts";

const KILLS = Number(process.env["GATEWAY_KILLS"] ?? 20);
const SEED = Number(process.env["GATEWAY_SEED"] ?? Date.now() % 1_000_000);

const many = { retry: { max_attempts: 500, backoff_base: "1ms" } };
const manyFor = Object.fromEntries(Object.keys(loopPlugins).map((name) => [name, many]));

describe("kill -9 of the gateway", () => {
  test(`at ${KILLS} random points: every run ends once and right (Q6, seed ${SEED})`, {
    timeout: 30_000 + KILLS * 5_000,
  }, async () => {
    const random = chance(SEED);
    const folder = gatewayFolder({
      plugins: loopPlugins,
      pipelines: loopPipelines,
      config: { plugins: manyFor },
    });
    const plan = join(folder, "kill-plan");
    let runs = 0;
    const counts: Record<string, number> = {};
    for (let kill = 0; kill < KILLS; kill++) {
      withQueue(folder, (file) => {
        const open = listJobs(file, { limit: 10_000 }).filter(({ status }) => status !== "succeeded");
        if (open.length < 2) startRun(file, `run-${runs++}`);
        expect(open.filter(({ status }) => status === "running").length).toBeLessThanOrEqual(1);
      });
      const ways = ["begin", "printed", "after", "time", "time"];
      const way = ways[Math.floor(random() * ways.length)] ?? "time";
      rmSync(plan, { force: true });
      if (way !== "time") writeFileSync(plan, `${way} ${(random() * 0.03).toFixed(4)}`);
      const gateway = gatewayProcess(folder);
      await gateway.ready;
      const late = setTimeout(() => gateway.child.kill("SIGKILL"), way === "time" ? random() * 150 : 1_500);
      expect(await gateway.ended, gateway.text()).toBe("SIGKILL");
      clearTimeout(late);
      counts[way] = (counts[way] ?? 0) + 1;
    }
    rmSync(plan, { force: true });
    await runToEnd(folder);
    withQueue(folder, (file) => {
      const jobs = listJobs(file, { limit: 10_000 });
      expect(jobs.filter(({ status }) => status !== "succeeded")).toEqual([]);
      // For each run: start, fetch, resume, write, resume, and the one who hears of the end.
      expect(jobs).toHaveLength(runs * 6);
      const told = jobs
        .filter(({ plugin }) => plugin === "sink")
        .map(({ payload }) => String((payload["payload"] as JsonObject)["run_id"]));
      expect(told.toSorted()).toEqual(Array.from({ length: runs }, (_, n) => `run-${n}`).toSorted());
      const state = JSON.parse(stateOf(file, "agentic-loop")) as {
        runs: Record<string, { status: string; seen: string[] }>;
      };
      for (const run of Object.values(state.runs))
        expect(run).toMatchObject({ status: "done", seen: ["content_ready", "text.done"] });
      for (const tool of ["fetch", "write"]) expect(JSON.parse(stateOf(file, tool))).toEqual({ count: runs });
      expect(Object.values(counts).reduce((sum, one) => sum + one, 0)).toBe(KILLS);
      expect(jobs.some(({ attempt }) => attempt > 1)).toBe(true);
      const successes = (id: string) => attemptsOf(file, id).filter(({ status }) => status === "succeeded");
      expect(jobs.filter(({ id }) => successes(id).length !== 1)).toEqual([]);
    });
  });

  const sleeper = shellPlugin(
    `cat > /dev/null\nsleep 300 &\necho $$ $! >> "$(dirname "$0")/../../pids"\nwait`,
  );
  const isAlive = (pid: number) => startOf(pid) !== null;
  const pidsOf = (folder: string) =>
    readFileSync(join(folder, "pids"), "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" ").map(Number));

  async function killedMidPlugin(attempts: number) {
    const folder = gatewayFolder({
      plugins: { ...loopPlugins, fetch: sleeper },
      pipelines: loopPipelines,
      config: { plugins: { fetch: { retry: { max_attempts: attempts } } } },
    });
    withQueue(folder, (file) => startRun(file, "r"));
    const gateway = gatewayProcess(folder);
    await gateway.ready;
    await appears(join(folder, "pids"));
    gateway.child.kill("SIGKILL");
    await gateway.ended;
    return folder;
  }

  /** Watches for a file that another process writes. */
  async function appears(path: string): Promise<void> {
    for (;;) {
      try {
        if (readFileSync(path, "utf8").endsWith("\n")) return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  test("in the middle of a plugin: the next gateway ends what is left of it and runs the job again (Q7)", async () => {
    const folder = await killedMidPlugin(2);
    const [orphans = []] = pidsOf(folder);
    expect(orphans.map(isAlive)).toEqual([true, true]);
    rmSync(join(folder, "pids"));
    const second = gatewayProcess(folder);
    await appears(join(folder, "pids"));
    expect(orphans.map(isAlive)).toEqual([false, false]);
    second.child.kill("SIGKILL");
    await second.ended;
    withQueue(folder, (file) => {
      expect(listJobs(file, { limit: 10, plugin: "fetch" })).toMatchObject([
        { status: "running", attempt: 2 },
      ]);
    });
    await runToEnd(folder);
    withQueue(folder, (file) => {
      expect(listJobs(file, { limit: 10, plugin: "fetch" })).toMatchObject([
        { status: "dead", attempt: 2, errorCode: "tool_dead" },
      ]);
      const state = JSON.parse(stateOf(file, "agentic-loop")) as JsonObject;
      expect(state).toMatchObject({ runs: { r: { status: "done", seen: ["tool_dead", "text.done"] } } });
    });
  });

  test("a process that only has the number of the old one is left alone (Q7)", async () => {
    const innocent = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
    onTestFinished(() => void innocent.kill("SIGKILL"));
    const folder = gatewayFolder({ plugins: loopPlugins, pipelines: loopPipelines });
    withQueue(folder, (file) => {
      startRun(file, "r");
      file.transaction(
        () =>
          file.run(
            "UPDATE job SET status = 'running', pid = ?, pid_started = 'another time'",
            innocent.pid ?? 0,
          ),
        { durable: true },
      );
    });
    await runToEnd(folder);
    expect(isAlive(innocent.pid ?? 0)).toBe(true);
    withQueue(folder, (file) => {
      expect(listJobs(file, { limit: 10 }).at(-1)).toMatchObject({ status: "succeeded", attempt: 2 });
    });
  });

  test("a second gateway on the same state refuses, and starts when the first was killed (Q11)", async () => {
    const folder = gatewayFolder({ plugins: loopPlugins, pipelines: loopPipelines });
    const first = gatewayProcess(folder);
    await first.ready;
    const second = gatewayProcess(folder);
    expect(await second.ended).toBe(1);
    expect(second.text()).toContain("another gateway runs on this state");
    first.child.kill("SIGKILL");
    await first.ended;
    await runToEnd(folder);
  });
});

describe("a gateway that is told to stop", () => {
  const slow = (seconds: number) =>
    shellPlugin(
      `cat > /dev/null\necho x > "$(dirname "$0")/../../begun"\nsleep ${seconds}\necho '{"status":"ok"}'`,
    );
  const go = [
    {
      name: "go",
      on: "go",
      steps: [
        { id: "a", uses: "slow" },
        { id: "b", uses: "slow" },
      ],
    },
  ];

  test("lets the running job end and takes no other", async () => {
    const folder = gatewayFolder({ plugins: { slow: slow(0.3) }, pipelines: go });
    const { trigger, gateway, file, jobs } = openGateway(folder);
    trigger("go");
    trigger("go");
    const spawned = Promise.withResolvers<void>();
    file.onChange(
      () => noticesAfter(file, 0).some(({ name }) => name === "plugin.spawned") && spawned.resolve(),
    );
    const working = gateway.run();
    await spawned.promise;
    await gateway.stop();
    await working;
    expect(jobs().map(({ status }) => status)).toEqual(["succeeded", "queued", "queued"]);
  });
});

describe("tools that fail come back to the agent without waiting (N1):", () => {
  test.each([
    [
      "an error",
      shellPlugin(`cat > /dev/null; echo '{"status":"error","error":"no","retry":false}'`),
      {},
      "tool_failed",
    ],
    ["broken output", shellPlugin("cat > /dev/null; echo hello"), {}, "tool_broken"],
    ["a crash", shellPlugin("kill -9 $$"), {}, "tool_broken"],
    ["no answer in time", shellPlugin("exec sleep 60"), { timeouts: { handle: "100ms" } }, "tool_timeout"],
    ["neither event nor text", shellPlugin(`cat > /dev/null; echo '{"status":"ok"}'`), {}, "tool_no_event"],
    [
      "only a text",
      shellPlugin(`cat > /dev/null; echo '{"status":"ok","result":"did it"}'`),
      {},
      "gateway.step.succeeded",
    ],
    [
      "a start of another agent",
      shellPlugin(
        `cat > /dev/null; echo '{"status":"ok","events":[{"type":"agentic.start","payload":{"run_id":"evil"}}]}'`,
      ),
      {},
      "tool_no_event",
    ],
  ])("%s", async (_, text, entry, seen) => {
    const folder = gatewayFolder({
      plugins: { ...loopPlugins, fetch: text },
      pipelines: loopPipelines,
      config: { plugins: { fetch: { retry: { max_attempts: 1 }, ...entry } } },
    });
    const opened = openGateway(folder);
    opened.trigger("start", { run_id: "r", goal: "g" });
    const jobs = await opened.settled();
    const state = JSON.parse(stateOf(opened.file, "agentic-loop")) as { runs: JsonObject };
    expect(state.runs).toMatchObject({ r: { status: "done", seen: [seen, "text.done"] } });
    expect(Object.keys(state.runs)).toEqual(["r"]);
    expect(jobs).toHaveLength(6);
  });

  test("no pipeline for the tool", async () => {
    const folder = gatewayFolder({
      plugins: loopPlugins,
      pipelines: loopPipelines.filter(({ name }) => name !== "tool-fetch"),
    });
    const opened = openGateway(folder);
    opened.trigger("start", { run_id: "r", goal: "g" });
    await opened.settled();
    expect(JSON.parse(stateOf(opened.file, "agentic-loop"))).toMatchObject({
      runs: { r: { seen: ["tool_unroutable", "text.done"] } },
    });
  });

  test("a resume that fails for good gets no error result (N2)", async () => {
    const fails = loopPlugins["agentic-loop"].replace(
      "const document =",
      'if (type === "content_ready") { process.stdout.write(JSON.stringify({ status: "error", error: "no", retry: false })); process.exit(0); }\nconst document =',
    );
    const opened = openGateway(
      gatewayFolder({ plugins: { ...loopPlugins, "agentic-loop": fails }, pipelines: loopPipelines }),
    );
    opened.trigger("start", { run_id: "r", goal: "g" });
    expect(await opened.settled()).toMatchObject([
      { plugin: "agentic-loop", status: "succeeded" },
      { plugin: "fetch", status: "succeeded" },
      { plugin: "agentic-loop", stepId: "resume", status: "failed" },
    ]);
  });

  test("one job runs at a time, and a run of two tools takes six jobs in order (S1, S2)", async () => {
    const opened = openGateway(gatewayFolder({ plugins: loopPlugins, pipelines: loopPipelines }));
    opened.trigger("start", { run_id: "r", goal: "g" });
    const jobs = await opened.settled();
    expect(jobs.map(({ plugin }) => plugin)).toEqual([
      "agentic-loop",
      "fetch",
      "agentic-loop",
      "write",
      "agentic-loop",
      "sink",
    ]);
    expect(new Set(jobs.map(({ workspaceId }) => workspaceId)).size).toBe(1);
    let running = 0;
    for (const { name } of noticesAfter(opened.file, 0)) {
      if (name === "job.started") running += 1;
      if (name === "job.completed") running -= 1;
      expect(running).toBeLessThanOrEqual(1);
    }
  });
});
