// MCP servers that are programs: two from the registry, which speak the older generation of the protocol, and
// one of our own that speaks both.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { root } from "../../tidy/source-files.ts";
import {
  bench,
  context,
  EVERYTHING,
  FILESYSTEM,
  faultOf,
  isAlive,
  laterOf,
  OWN_PROGRAM,
  program,
} from "./bench.ts";

let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "packloop-mcp-")));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** Resolves when the program has written the line. */
const noted = (file: string, line: string): Promise<void> =>
  vi.waitFor(async () => expect(await readFile(file, "utf8")).toContain(line), { timeout: 30_000 });

describe("the filesystem server", () => {
  test("reads and writes files under the names a binding gives its tools", async () => {
    await writeFile(join(folder, "a.txt"), "hello");
    await using on = bench();
    const server = program(FILESYSTEM, folder);
    const read = on.one("read", { ...server, tool: "read_text_file" });
    const write = on.one("write_file", server);
    expect(await read.call({ path: join(folder, "a.txt") }, context())).toEqual({
      ok: true,
      value: { content: "hello" },
    });
    await write.call({ path: join(folder, "b.txt"), content: "new" }, context());
    expect(await readFile(join(folder, "b.txt"), "utf8")).toBe("new");
  });

  test("keeps to its folder, which a model sees as an error of the tool", async () => {
    await using on = bench();
    const read = on.one("read_text_file", program(FILESYSTEM, folder));
    expect(await read.call({ path: "/etc/hostname" }, context())).toMatchObject({
      ok: false,
      code: "tool_error",
    });
  });

  test("offers only what the binding allows, with definitions for models", async () => {
    await using on = bench();
    const tools = on.many("mcp__files__*", {
      ...program(FILESYSTEM, folder),
      allow: ["read_text_file", "list_*"],
    });
    const opened = await tools.open(new AbortController().signal);
    expect([...opened.keys()].sort()).toEqual([
      "mcp__files__list_allowed_directories",
      "mcp__files__list_directory",
      "mcp__files__list_directory_with_sizes",
      "mcp__files__read_text_file",
    ]);
    expect(opened.get("mcp__files__read_text_file")).toMatchObject({
      tier: "destructive",
      safe: false,
      definition: { parameters: { type: "object", required: ["path"] } },
    });
    expect(tools.tool("mcp__files__write_file")).toBeUndefined();
    expect(tools.tool("mcp__other__read_text_file")).toBeUndefined();
    const listed = await tools.tool("mcp__files__list_directory")?.call({ path: folder }, context());
    expect(listed).toMatchObject({ ok: true });
  });

  test("is believed about its tools only where the binding says so", async () => {
    await using on = bench();
    const options = { ...program(FILESYSTEM, folder), trust_annotations: true };
    const tools = await on.many("mcp__files__*", options).open(new AbortController().signal);
    expect(tools.get("mcp__files__read_text_file")).toMatchObject({ tier: "read", safe: true });
    expect(tools.get("mcp__files__write_file")).toMatchObject({ tier: "destructive", safe: true });
    expect(tools.get("mcp__files__move_file")).toMatchObject({ safe: false });
  });
});

describe("the everything server", () => {
  test("gives structured content, text, and pictures only as what they are", async () => {
    await using on = bench();
    const server = program(EVERYTHING, "stdio");
    const weather = on.one("weather", { ...server, tool: "get-structured-content" });
    const sum = on.one("sum", { ...server, tool: "get-sum" });
    const picture = on.one("picture", { ...server, tool: "get-tiny-image" });
    expect(await weather.call({ location: "Chicago" }, context())).toMatchObject({
      ok: true,
      value: { temperature: expect.any(Number) },
    });
    expect(await sum.call({ a: 2, b: 3 }, context())).toEqual({
      ok: true,
      value: "The sum of 2 and 3 is 5.",
    });
    const seen = await picture.call({}, context());
    expect(seen).toMatchObject({
      value: { content: [{ type: "image", mime_type: "image/png", bytes: 4033 }] },
    });
    expect(JSON.stringify(seen).length).toBeLessThan(500);
  });

  test("works on a task that is looked at again until it is over", async () => {
    await using on = bench();
    const research = on.one("simulate-research-query", program(EVERYTHING, "stdio"));
    let answer = await research.call({ topic: "loops" }, context());
    const { handle, until } = laterOf(answer);
    expect(handle).toMatchObject({ task: expect.any(String) });
    expect(until).toBe(on.now + 1000);
    while ("deferred" in answer)
      answer = await research.call({ topic: "loops" }, context({ handle: laterOf(answer).handle ?? null }));
    expect(answer).toMatchObject({ ok: true, value: expect.stringContaining("Research Report: loops") });
  });

  test("is told of no elicitation, because it would ask over an open connection", async () => {
    await using on = bench();
    const tools = await on.many("mcp__e__*", program(EVERYTHING, "stdio")).open(new AbortController().signal);
    expect(tools.has("mcp__e__echo")).toBe(true);
    expect([...tools.keys()].filter((name) => name.includes("elicitation"))).toEqual([]);
  });
});

describe.each(["serve", "older"])("a program of our own (%s)", (generation) => {
  const own = (log = ""): ReturnType<typeof program> => program(OWN_PROGRAM, log, generation);

  test("is one process for all tools of the same definition, and gone after disposal", async () => {
    const on = bench();
    const first = await on.one("pid", own()).call({}, context());
    const second = await on.one("again", { ...own(), tool: "pid" }).call({}, context());
    expect(second).toEqual(first);
    const pid = Number((first as { value?: unknown }).value);
    expect(isAlive(pid)).toBe(true);
    await on[Symbol.asyncDispose]();
    expect(isAlive(pid)).toBe(false);
    expect(await faultOf(on.one("pid", own()).call({}, context()))).toMatchObject({ code: "mcp_closed" });
  });

  test("that dies in a call leaves an unsafe one in doubt, and the next attempt starts it again", async () => {
    await using on = bench();
    const pid = on.one("pid", own());
    const before = await pid.call({}, context());
    const fault = await faultOf(on.one("crash", own()).call({}, context()));
    expect(fault).toMatchObject({ code: "in_doubt", retry: "unknown" });
    expect(fault.message).toContain("it last wrote: out of luck");
    expect(fault.message).toContain("whether the call took effect is unknown");
    const after = await pid.call({}, context());
    expect(after).toMatchObject({ ok: true });
    expect(after).not.toEqual(before);
  });

  test("that dies in a call of a tool that may be repeated is tried again later", async () => {
    await using on = bench();
    const fault = await faultOf(on.one("crash", own(), true).call({}, context()));
    expect(fault).toMatchObject({ code: "connection_lost", retry: "later" });
  });

  test("that is killed from outside in the middle of a call is started again", async () => {
    const log = join(folder, "log");
    await using on = bench();
    const pid = await on.one("pid", own(log)).call({}, context());
    const hanging = faultOf(on.one("hang", own(log)).call({}, context()));
    await noted(log, "hang");
    process.kill(Number((pid as { value?: unknown }).value), "SIGKILL");
    expect(await hanging).toMatchObject({ code: "in_doubt" });
    expect(await on.one("pid", own(log)).call({}, context())).toMatchObject({ ok: true });
  });

  test("learns that a call was given up", async () => {
    const log = join(folder, "log");
    await using on = bench();
    const stop = new AbortController();
    const hanging = on.one("hang", own(log)).call({}, context({ signal: stop.signal }));
    hanging.catch(() => {});
    await noted(log, "hang");
    stop.abort(new DOMException("the step was closed", "AbortError"));
    await expect(hanging).rejects.toThrow("the step was closed");
    await noted(log, "cancelled");
  });

  test("that does not answer in time is told so, and a call that must not be repeated ends", async () => {
    const log = join(folder, "log");
    await using on = bench();
    await on.one("pid", own(log)).call({}, context());
    const hang = on.one("hang", { ...own(log), timeout_sec: 1 });
    expect(await faultOf(hang.call({}, context()))).toMatchObject({ code: "timeout", retry: "unknown" });
    await noted(log, "cancelled");
  });

  test("gets the variables the binding names and no others, and their values stay secret", async () => {
    await using on = bench();
    on.env.set("OWN_TOKEN", "canary-4711").set("OTHER", "hidden");
    const server = { mcp: { ...(own()["mcp"] as object), env: ["OWN_TOKEN"] } };
    const env = on.one("env", server);
    expect(await env.call({ name: "OWN_TOKEN" }, context())).toEqual({ ok: true, value: "[OWN_TOKEN]" });
    expect(await env.call({ name: "OTHER" }, context())).toEqual({ ok: true, value: "unset" });
    const fault = await faultOf(on.one("crash", server).call({}, context()));
    expect(fault.message).toContain("out of luck with [OWN_TOKEN]");
    expect(fault.message).not.toContain("canary");
  });
});

describe("a program that cannot be used", () => {
  test("is named when it does not exist, and not tried again", async () => {
    await using on = bench();
    const fault = await faultOf(
      on.one("x", { mcp: { command: ["no-such-program-here"] } }).call({}, context()),
    );
    expect(fault).toMatchObject({ code: "mcp_not_started", retry: "never" });
    expect(fault.message).toContain("no-such-program-here");
  });

  test("is quoted when it ends at once", async () => {
    await using on = bench();
    const command = [process.execPath, "-e", "console.error('no licence'); process.exit(1)"];
    const fault = await faultOf(on.one("x", { mcp: { command } }).call({}, context()));
    expect(fault).toMatchObject({ code: "mcp_unavailable", retry: "later" });
    expect(fault.message).toContain("no licence");
  });

  test("is not started without the variables it needs", async () => {
    await using on = bench();
    const options = { mcp: { command: [process.execPath, "-e", ""], env: ["MISSING_TOKEN"] } };
    expect(await faultOf(on.one("x", options).call({}, context()))).toMatchObject({
      code: "not_configured",
      message: expect.stringContaining("environment variable `MISSING_TOKEN` is not set"),
    });
  });

  test("has no such tool", async () => {
    await using on = bench();
    const answer = await on.one("get_sum", program(EVERYTHING, "stdio")).call({}, context());
    expect(answer).toMatchObject({ ok: false, code: "unknown_tool" });
  });
});

test("a process that is killed in the middle of a call leaves no server behind", async () => {
  const log = join(folder, "log");
  const driver = spawn(process.execPath, [join(root, "test/adapter/mcp/driver-program.ts"), log]);
  await noted(log, "hang");
  driver.kill("SIGKILL");
  const pids = [...(await readFile(log, "utf8")).matchAll(/start (\d+)/g)].map(([, pid]) => Number(pid));
  expect(pids.length).toBeGreaterThan(0);
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 30_000 });
});
