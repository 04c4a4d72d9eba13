// What a gateway does by the clock, what it forgets, and how it is stopped in a hurry (4, 6.7, 14.4).

import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../src/base/json.ts";
import { defaultEntry, type Schedule } from "../../src/gateway/config/config.ts";
import type { InstalledPlugin } from "../../src/gateway/installed-plugins.ts";
import { DiskSync } from "../../src/gateway/queue/disk-sync.ts";
import { claim, listJobs } from "../../src/gateway/queue/jobs.ts";
import { noticesAfter } from "../../src/gateway/queue/notices.ts";
import { settle } from "../../src/gateway/queue/settle.ts";
import { tick } from "../../src/gateway/scheduler.ts";
import { upkeep } from "../../src/gateway/upkeep.ts";
import { Workspaces } from "../../src/gateway/workspaces.ts";
import { emits, gatewayFolder, openGateway, setupOf, shellPlugin } from "./gateway-folder.ts";
import { gatewayProcess } from "./gateway-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const go = [{ name: "go", on: "go", steps: [{ id: "a", uses: "it" }] }];

describe("schedules", () => {
  const minute: Schedule = { id: "s", everyMs: 60_000, jitterMs: 10_000, command: "poll", payload: { p: 1 } };

  function scheduled(...schedules: readonly Schedule[]) {
    const opened = openGateway(gatewayFolder({ plugins: { it: emits() } }));
    const found = opened.setup.plugins.get("it") as InstalledPlugin;
    const plugin = { ...found, entry: { ...defaultEntry("it"), schedules } };
    const at = (now: number, random = 0) => {
      tick(opened.file, [plugin], { now, random: () => random, dedupeTtlMs: 0, attemptsMax: () => 4 });
      return opened.jobs().length;
    };
    const finish = () => {
      const job = claim(opened.file, 0);
      if (job === undefined) throw new Error("no job");
      const outcome = { kind: "succeeded", result: null, state: undefined, jobs: [], dropped: [] } as const;
      settle(opened.file, job, {
        outcome,
        trace: { exitCode: 0, document: null, stderr: "" },
        terms: { now: 0, dedupeTtlMs: 0 },
      });
    };
    return { ...opened, at, finish };
  }

  test("are due at once, then after their interval and its jitter, and only once for all they missed", () => {
    const { at, finish, jobs } = scheduled(minute);
    expect(at(1_000_000, 0.5)).toBe(1);
    finish();
    expect(at(1_064_999)).toBe(1);
    expect(at(1_065_000)).toBe(2);
    finish();
    expect(at(9_000_000)).toBe(3);
    expect(jobs()[0]).toMatchObject({
      command: "poll",
      payload: { p: 1 },
      submittedBy: "schedule",
      pipeline: null,
    });
  });

  test("are skipped while a poll is outstanding", () => {
    const { at, finish } = scheduled(minute);
    expect([at(0), at(100_000), at(200_000)]).toEqual([1, 1, 1]);
    finish();
    expect(at(200_001)).toBe(2);
  });

  test("a clock that was set back keeps nobody waiting", () => {
    const { at, finish } = scheduled(minute);
    at(10_000_000);
    finish();
    expect(at(1_000)).toBe(2);
  });

  test("of a plugin run it without a door", async () => {
    const config = { plugins: { it: { schedule: { every: "1h" } } } };
    const opened = openGateway(gatewayFolder({ plugins: { it: emits() }, config }));
    const polled = Promise.withResolvers<void>();
    opened.file.onChange(() => {
      if (noticesAfter(opened.file, 0).some(({ name }) => name === "job.completed")) polled.resolve();
    });
    await opened.settled();
    await polled.promise;
    expect(opened.jobs()).toMatchObject([{ plugin: "it", command: "poll", status: "succeeded" }]);
  });
});

test("what is old is forgotten: jobs, their logs and contexts, and workspaces nobody refers to", async () => {
  const folder = gatewayFolder({ plugins: { it: emits() }, pipelines: go });
  const opened = openGateway(folder);
  const first = opened.trigger("go");
  const second = opened.trigger("go");
  await opened.settled();
  const { file, setup } = opened;
  const workspaces = new Workspaces(setup.config.statePath);
  const { service } = setup.config;
  const state = JSON.stringify({ runs: { r: { workspace_ref: `job:${second}` } } });
  file.transaction(() => file.run("INSERT INTO plugin_state VALUES ('it', ?, 0)", state), { durable: false });
  const day = 86_400_000;
  upkeep({ file, workspaces, service }, Date.now() + 6 * day);
  expect([first, second].map((id) => existsSync(join(folder, "workspaces", id)))).toEqual([true, true]);
  upkeep({ file, workspaces, service }, Date.now() + 8 * day);
  expect([first, second].map((id) => existsSync(join(folder, "workspaces", id)))).toEqual([false, true]);
  expect(listJobs(file, { limit: 10 })).toHaveLength(2);
  upkeep({ file, workspaces, service }, Date.now() + 31 * day);
  expect(listJobs(file, { limit: 10 })).toHaveLength(0);
  expect(file.get("SELECT count(*) AS n FROM job_log")).toEqual({ n: 0 });
});

test("a workspace that cannot be removed stops nobody, and is tried again much later", async () => {
  const folder = gatewayFolder({ plugins: { it: emits() }, pipelines: go });
  const { trigger, settled, file, setup } = openGateway(folder);
  const id = trigger("go");
  await settled();
  const { service, statePath } = setup.config;
  const workspaces = new Workspaces(statePath);
  const home = join(folder, "workspaces");
  rmSync(home, { recursive: true });
  symlinkSync("workspaces", home);
  const day = 86_400_000;
  const at = (days: number) => upkeep({ file, workspaces, service }, Date.now() + days * day);
  expect([at(8), at(9)]).toEqual([[id], []]);
  rmSync(home);
  expect(at(16)).toEqual([]);
  expect(file.all("SELECT id FROM workspace")).toEqual([]);
});

test("told to stop twice, a gateway waits five seconds, ends the plugin and leaves its job to the next", async () => {
  const stubborn = shellPlugin(
    `trap '' TERM\ncat > /dev/null\necho $$ > "$(dirname "$0")/../../begun"\nsleep 60 &\nwait`,
  );
  const folder = gatewayFolder({ plugins: { it: stubborn }, pipelines: go });
  const { trigger, gateway, file, jobs } = openGateway(folder);
  trigger("go");
  const spawned = Promise.withResolvers<void>();
  file.onChange(
    () => noticesAfter(file, 0).some(({ name }) => name === "plugin.spawned") && spawned.resolve(),
  );
  const working = gateway.run();
  await spawned.promise;
  const first = gateway.stop();
  const second = gateway.stop();
  await Promise.all([first, second, working]);
  expect(jobs()).toMatchObject([{ status: "running", attempt: 1 }]);
});

test("the first signal lets a running job end, as a process", async () => {
  const slow = shellPlugin(`cat > /dev/null\nsleep 0.5\necho '{"status":"ok"}'`);
  const folder = gatewayFolder({
    plugins: { it: slow },
    config: { plugins: { it: { schedule: { every: "1h" } } } },
  });
  const process_ = gatewayProcess(folder);
  await process_.ready;
  process_.child.kill("SIGTERM");
  expect(await process_.ended).toBe(0);
  const { jobs } = openGateway(folder);
  expect(jobs().filter(({ status }) => status === "running")).toEqual([]);
});

describe("what is shipped", () => {
  test("every pipeline of the loop says `max_depth: 0`, for gateways that count depth along a run (HZ-K)", () => {
    const text = readFileSync(join(root, "examples/gateway/pipelines.yaml"), "utf8");
    const { pipelines } = parse(text) as { pipelines: JsonObject[] };
    const loop = pipelines.filter(({ on }) => String(on).startsWith("agentic."));
    expect(loop).toHaveLength(3);
    expect(loop.map((one) => one["max_depth"])).toEqual([0, 0, 0]);
  });

  test("the example plugins are taken strictly too", () => {
    const setup = setupOf(
      gatewayFolder({
        config: {
          service: { plugin_protocol: "strict" },
          plugins_dir: join(root, "plugins"),
          plugins: { "page-reader": { config: { pages_dir: "." } } },
        },
      }),
    );
    expect(setup.skipped.size).toBe(0);
    expect([...setup.plugins.keys()]).toEqual(expect.arrayContaining(["page-reader", "text-writer"]));
  });

  test("what docs/gateway.md shows is read as it stands", () => {
    const page = readFileSync(join(root, "docs/gateway.md"), "utf8");
    const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(
      ([, text]) => parse(text ?? "") as JsonObject,
    );
    const [own = {}, manifest = {}, pipelines = {}] = blocks;
    const folder = gatewayFolder({
      plugins: { "page-reader": emits(), "text-writer": emits(), "agentic-loop": emits() },
      manifests: { "page-reader": { ...manifest, entrypoint: "run" } },
      config: own,
      pipelines: [own, pipelines].flatMap((block) => block["pipelines"] as JsonObject[]),
    });
    expect(setupOf(folder).errors).toEqual([]);
    expect(setupOf(folder).pipelines.size).toBe(2);
  });
});

test("a plugin is told nothing before what led to it is on the disk", async () => {
  const reader = shellPlugin(`read -r line\ntouch "$(dirname "$0")/../../told"\necho '{"status":"ok"}'`);
  const folder = gatewayFolder({ plugins: { it: reader }, pipelines: go });
  const { trigger, gateway, file, jobs } = openGateway(folder);
  file.durable = () => Promise.reject(new Error("the disk is gone"));
  trigger("go");
  await expect(gateway.run()).rejects.toThrow("the disk is gone");
  expect(jobs()).toMatchObject([{ status: "running" }]);
  expect(existsSync(join(folder, "told"))).toBe(false);
});

test("that a job was taken up is on the disk before its plugin is told anything", async () => {
  const { trigger, file, settled } = openGateway(gatewayFolder({ plugins: { it: emits() }, pipelines: go }));
  const steps: string[] = [];
  const transaction = file.transaction.bind(file);
  file.transaction = (act, options) => {
    const made = transaction(act, options);
    steps.push(`${noticesAfter(file, 0).at(-1)?.name}${options.durable ? ", to be kept" : ""}`);
    return made;
  };
  const durable = file.durable.bind(file);
  file.durable = () => {
    steps.push("waits");
    return durable();
  };
  trigger("go");
  await settled();
  const taken = steps.slice(steps.indexOf("job.started")).filter((step) => !step.startsWith("scheduler"));
  expect(taken.slice(0, 3)).toEqual(["job.started", "plugin.spawned, to be kept", "waits"]);
});

test("commits are brought to the disk beside the work, and a log that cannot be is a fault of the state", async () => {
  const { file, trigger } = openGateway(gatewayFolder({ plugins: { it: emits() }, pipelines: go }));
  for (let n = 0; n < 5; n++) trigger("go");
  await file.durable();
  using broken = new DiskSync(join(tmpdir(), "packloop-no-such-state"));
  await broken.through();
  // What need not last by itself is on the disk too before anybody is told of it.
  broken.allow();
  await expect(broken.through()).rejects.toMatchObject({ code: "gateway-state" });
});
