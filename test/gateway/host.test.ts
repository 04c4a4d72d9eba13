// Plugins as processes: what their document, their exit and their children mean for a job (2.4, 2.6, 7).

import { chmodSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { attemptsOf, stateOf } from "../../src/gateway/queue/jobs.ts";
import { emits, gatewayFolder, nodePlugin, openGateway, shellPlugin } from "./gateway-folder.ts";

const once = { retry: { max_attempts: 1 } };
const twice = { retry: { max_attempts: 2, backoff_base: "1ms" } };
const go = [{ name: "go", on: "go", steps: [{ id: "a", uses: "it" }] }];

const prints = (text: string, exit = 0): string =>
  shellPlugin(`cat > /dev/null\ncat <<'END'\n${text}\nEND\nexit ${exit}`);

async function ran(text: string, entry: JsonObject = twice, config: JsonObject = {}) {
  const folder = gatewayFolder({
    plugins: { it: text },
    pipelines: go,
    config: { ...config, plugins: { it: entry } },
  });
  const opened = openGateway(folder);
  const id = opened.trigger("go");
  const [job] = await opened.settled();
  if (job === undefined) throw new Error("no job");
  return { ...opened, folder, id, job, attempts: attemptsOf(opened.file, id) };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

/** A process that was ended needs a moment to be gone; one that was not never is. */
async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("the document decides, not the exit code (P1):", () => {
  test.each([
    ["ok, exit 0", '{"status":"ok"}', 0, "succeeded", 1, null],
    ["ok, exit 3", '{"status":"ok"}', 3, "succeeded", 1, null],
    ["ok with white space around", '\n {"status":"ok"} \n', 0, "succeeded", 1, null],
    ["error", '{"status":"error","error":"no"}', 0, "failed", 2, "tool_failed"],
    ["error, retry true", '{"status":"error","error":"no","retry":true}', 1, "failed", 2, "tool_failed"],
    ["error, retry false", '{"status":"error","error":"no","retry":false}', 1, "failed", 1, "tool_failed"],
    ["error, exit 78", '{"status":"error","error":"no"}', 78, "failed", 1, "tool_failed"],
    ["nothing", "", 0, "failed", 2, "tool_broken"],
    ["not JSON", "hello", 0, "failed", 2, "tool_broken"],
    ["two documents", '{"status":"ok"}{"status":"ok"}', 0, "failed", 2, "tool_broken"],
    ["not JSON, exit 78", "hello", 78, "failed", 1, "tool_broken"],
  ])("%s", async (_, text, exit, status, attempts, code) => {
    const { job, attempts: log } = await ran(prints(text, exit));
    expect(job).toMatchObject({ status, attempt: attempts, errorCode: code, exitCode: exit });
    expect(log).toHaveLength(attempts);
  });

  test("a non-zero exit with an ok document is kept and warned about", async () => {
    const { logged, attempts } = await ran(prints('{"status":"ok"}', 3));
    expect(attempts[0]).toMatchObject({ exit_code: 3, status: "succeeded" });
    expect(logged).toContainEqual(
      expect.objectContaining({ level: "warn", data: expect.objectContaining({ exit_code: 3 }) }),
    );
  });

  test.each([
    ["a text for retry", '{"status":"error","error":"x","retry":"false"}', "tool_broken"],
    ["a number for result", '{"status":"ok","result":7}', "tool_broken"],
    ["a list for state", '{"status":"ok","state_updates":[]}', "tool_broken"],
    ["an unknown status", '{"status":"fine"}', "tool_broken"],
    ["an error without text", '{"status":"error"}', "tool_broken"],
    ["a scalar payload", '{"status":"ok","events":[{"type":"x","payload":"y"}]}', "bad-event"],
    ["a type with white space", '{"status":"ok","events":[{"type":"a b","payload":{}}]}', "bad-event"],
  ])("wrong types are failures: %s (P5)", async (_, text, code) => {
    const { job } = await ran(prints(text), once);
    expect(job).toMatchObject({ status: "failed", errorCode: code });
  });

  test("what is nested too deep to be written again is no document", async () => {
    const deep = nodePlugin(
      `process.stdout.write('{"status":"ok","state_updates":{"a":' + "[".repeat(90000) + "]".repeat(90000) + "}}");`,
    );
    const { job } = await ran(deep, once);
    expect(job).toMatchObject({ status: "failed", errorCode: "tool_broken" });
  });

  test("strictly, an ok document without a result is a failure", async () => {
    const strict = { service: { plugin_protocol: "strict" } };
    const manifest = {
      ...{ manifest_spec: "ductile.plugin", manifest_version: 1 },
      commands: [{ name: "handle", type: "write" }],
    };
    const parts = { plugins: { it: prints('{"status":"ok"}') }, pipelines: go, manifests: { it: manifest } };
    const opened = openGateway(gatewayFolder({ ...parts, config: { ...strict, plugins: { it: once } } }));
    opened.trigger("go");
    expect(await opened.settled()).toMatchObject([{ status: "failed", errorCode: "tool_broken" }]);
  });

  test("keys that mean nothing are ignored, and told once for a plugin", async () => {
    const opened = await ran(prints('{"status":"ok","results":1}'));
    opened.trigger("go");
    await opened.settled();
    const told = opened.logged.filter(({ data }) => "keys" in data);
    expect(told).toMatchObject([{ data: { keys: ["results"] } }]);
  });

  test("what the plugin logs is logged with its job", async () => {
    const { logged, id } = await ran(prints('{"status":"ok","logs":[{"level":"warn","message":"careful"}]}'));
    expect(logged).toContainEqual({ level: "warn", message: "careful", data: { job_id: id, plugin: "it" } });
  });
});

describe("state", () => {
  test("an error discards events and state (P6)", async () => {
    const events = [{ type: "go2", payload: {} }];
    const document = { status: "error", error: "x", retry: false, events, state_updates: { a: 1 } };
    const { file, jobs } = await ran(prints(JSON.stringify(document)));
    expect(stateOf(file, "it")).toBe("{}");
    expect(jobs()).toHaveLength(1);
  });

  test("is merged by its top-level keys, null included (P7)", async () => {
    const text = nodePlugin(
      `const updates = request.state.n === undefined
         ? { n: 1, keep: { a: 1 }, whole: { a: 1, b: 2 }, gone: 1 }
         : { n: 2, whole: { c: 3 }, gone: null };
       return { status: "ok", state_updates: updates };`,
    );
    const opened = await ran(text);
    opened.trigger("go");
    await opened.settled();
    expect(JSON.parse(stateOf(opened.file, "it"))).toEqual({
      n: 2,
      keep: { a: 1 },
      whole: { c: 3 },
      gone: null,
    });
  });

  test("one byte more than 1 MiB fails at once and leaves the old blob; 1 MiB is taken (Q10)", async () => {
    const text = nodePlugin(
      `const size = request.state.big === undefined ? 1048576 : 1048577;
       return { status: "ok", state_updates: { big: "x".repeat(size - '{"big":""}'.length) } };`,
    );
    const opened = await ran(text);
    expect(opened.job.status).toBe("succeeded");
    const before = stateOf(opened.file, "it");
    expect(Buffer.byteLength(before)).toBe(1_048_576);
    opened.trigger("go");
    const [, second] = await opened.settled();
    expect(second).toMatchObject({ status: "failed", attempt: 1, errorCode: "state-too-large" });
    expect(stateOf(opened.file, "it")).toBe(before);
  });
});

describe("the process", () => {
  test("gets one line of JSON with everything the protocol promises, and no arguments", async () => {
    const text = nodePlugin(
      `return { status: "ok", state_updates: { request, argv: process.argv.length, cwd: process.cwd() } };`,
    );
    const { file, id, folder } = await ran(text, { ...once, config: { k: [1] } });
    const { request, argv, cwd } = JSON.parse(stateOf(file, "it")) as Record<string, JsonObject>;
    expect({ argv, cwd }).toEqual({ argv: 2, cwd: process.cwd() });
    const event = { type: "go", payload: {}, timestamp: expect.stringMatching(/^20.*Z$/) };
    expect(request).toEqual({
      ...{ protocol: 2, job_id: id, command: "handle", config: { k: [1] }, state: {} },
      ...{ workspace_dir: join(folder, "workspaces", id), payload: event, event },
      deadline_at: expect.stringMatching(/^20.*Z$/),
    });
  });

  test("may have more time than the longest timer", async () => {
    const { job } = await ran(prints('{"status":"ok"}'), { ...once, timeouts: { handle: "30d" } });
    expect(job.status).toBe("succeeded");
  });

  test("may leave its input unread", async () => {
    expect((await ran(shellPlugin(`exec 0<&-; echo '{"status":"ok"}'`))).job.status).toBe("succeeded");
  });

  test("gets only the variables that are passed", async () => {
    process.env["GATEWAY_SECRET"] = "s";
    process.env["GATEWAY_SHOWN"] = "t";
    const text = nodePlugin(`return { status: "ok", state_updates: { env: Object.keys(process.env) } };`);
    const { file } = await ran(text, { ...once, pass_env: ["GATEWAY_SHOWN"] });
    const { env } = JSON.parse(stateOf(file, "it")) as { env: string[] };
    const known = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "GATEWAY_SHOWN"];
    expect(env).toContain("GATEWAY_SHOWN");
    expect(env.filter((name) => !known.includes(name))).toEqual([]);
  });

  test("that ignores SIGTERM is gone with its children soon after its deadline (Q8)", async () => {
    const folder = gatewayFolder({
      plugins: {
        it: shellPlugin(`trap '' TERM\nsleep 300 &\necho $$ $! > "$PIDS"\nwait\nsleep 300`),
      },
      pipelines: go,
      config: { plugins: { it: { ...once, timeouts: { handle: "300ms" } } } },
    });
    process.env["PIDS"] = join(folder, "pids");
    const opened = openGateway(folder);
    opened.trigger("go");
    const [job] = await opened.settled();
    expect(job).toMatchObject({ status: "timed_out", errorCode: "tool_timeout" });
    // About 5.3 seconds on a machine that has nothing else to do; what it started would sleep for five minutes.
    expect((job?.completedAt ?? 0) - (job?.startedAt ?? 0)).toBeLessThan(30_000);
    const pids = readFileSync(join(folder, "pids"), "utf8").trim().split(" ").map(Number);
    expect(pids).toHaveLength(2);
    await gone(pids);
  });

  test("whose grandchild holds its output open hangs nothing, and the grandchild ends with the job (Q9)", async () => {
    const folder = gatewayFolder({
      plugins: { it: shellPlugin(`sleep 300 &\necho $! > "$PIDS"\necho '{"status":"ok"}'`) },
      pipelines: go,
    });
    process.env["PIDS"] = join(folder, "pids");
    const opened = openGateway(folder);
    opened.trigger("go");
    expect(await opened.settled()).toMatchObject([{ status: "succeeded" }]);
    await gone([Number(readFileSync(join(folder, "pids"), "utf8"))]);
  });

  test("that writes 11 MiB fails at once, and one that complains for 1 MiB does not (Q10)", async () => {
    const large = await ran(shellPlugin("head -c 11534336 /dev/zero"), twice);
    expect(large.job).toMatchObject({ status: "failed", attempt: 1, errorCode: "stdout-too-large" });
    const loud = await ran(shellPlugin(`head -c 1048576 /dev/zero | tr '\\0' x >&2\necho '{"status":"ok"}'`));
    expect(loud.job.status).toBe("succeeded");
    expect(loud.attempts[0]?.stderr).toHaveLength(65_536);
  });

  test.each([
    ["may not be run fails at once", (path: string) => chmodSync(path, 0o644), 1],
    ["is missing is tried again", (path: string) => rmSync(path), 2],
    // Node throws for this one, where it reports the others later.
    [
      "is a link to itself is tried again",
      (path: string) => {
        rmSync(path);
        symlinkSync("run", path);
      },
      2,
    ],
  ])("whose file %s", async (_, harm, attempts) => {
    const folder = gatewayFolder({
      plugins: { it: emits() },
      pipelines: go,
      config: { plugins: { it: twice } },
    });
    const opened = openGateway(folder);
    harm(join(folder, "plugins/it/run"));
    opened.trigger("go");
    const [job] = await opened.settled();
    expect(job).toMatchObject({ status: "failed", errorCode: "tool_broken", attempt: attempts });
  });

  test("of a plugin or command that is not there fails at once", async () => {
    const folder = gatewayFolder({ plugins: { it: emits() }, pipelines: go });
    const first = openGateway(folder);
    first.file.transaction(
      () =>
        first.file.run(
          `INSERT INTO job (id, plugin, command, payload, status, attempt, max_attempts, submitted_by, root_job_id,
         workspace_id, created_at) VALUES ('a', 'none', 'handle', '{}', 'queued', 1, 4, 'cli', 'a', 'a', 1),
         ('b', 'it', 'init', '{}', 'queued', 1, 4, 'cli', 'b', 'b', 2)`,
        ),
      { durable: false },
    );
    expect(await first.settled()).toMatchObject([
      { status: "failed", errorCode: "unknown-plugin", attempt: 1 },
      { status: "failed", errorCode: "unknown-command", attempt: 1 },
    ]);
  });
});
