// Plugins of protocol v2 as tools, with real processes: what they are told, and what becomes of their answers.

import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { bindPlugin } from "../../../src/adapter/tool/plugin/bind-plugin.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

const MANIFEST = `manifest_spec: ductile.plugin
manifest_version: 1
name: reader
version: 0.1.0
protocol: 2
entrypoint: run.cjs
commands:
  - { name: handle, type: write, description: Reads a page, input_schema: { url: string, depth: integer } }
  - { name: look, type: read }
  - { name: once, type: write, retry_safe: false, idempotent: true }
  - health
config_keys: { optional: [lang] }
`;

interface Made {
  readonly manifest?: string;
  readonly options?: JsonObject;
  readonly env?: Record<string, string>;
}

/** A bench with a plugin that runs this JavaScript; `request` is what it was told. */
async function folder(code: string, { manifest = MANIFEST, env = {} }: Made = {}): Promise<Bench> {
  const bench = await Bench.make({}, env);
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const home = join(bench.around.folder, "reader");
  await mkdir(home);
  await writeFile(join(home, "manifest.yaml"), manifest);
  const head = `#!${process.execPath}\nconst request = JSON.parse(require("node:fs").readFileSync(0, "utf8"));\n`;
  await writeFile(join(home, "run.cjs"), `${head}${code}`);
  await chmod(join(home, "run.cjs"), 0o755);
  return bench;
}

async function plugin(code: string, made: Made = {}) {
  const bench = await folder(code, made);
  const tool = bench.bind(bindPlugin, { plugin: "reader", ...made.options });
  return { bench, tool, call: (args: Json = {}, given = {}) => bench.call(tool, args, given) };
}

const respond = (response: Json): string =>
  `process.stdout.write(${JSON.stringify(JSON.stringify(response))});`;

describe("a plugin", () => {
  test("is told the call as an event of protocol 2", async () => {
    const code =
      'console.log(JSON.stringify({ status: "ok", result: "read", events: [{ type: "got", payload: { request } }] }))';
    const { call, bench } = await plugin(code, { options: { config: { lang: "de" }, timeout_sec: 60 } });
    const event = {
      type: "agentic.tool_request.reader",
      payload: { url: "http://a.example/" },
      event_id: "r_1/5",
      source: "packloop",
      timestamp: "2030-01-01T00:00:00.000Z",
    };
    expect(valueOf(await call({ url: "http://a.example/" }, { step: 5 }))["request"]).toEqual({
      protocol: 2,
      job_id: "r_1/5",
      command: "handle",
      config: { lang: "de" },
      state: {},
      workspace_dir: bench.workspace,
      payload: event,
      event,
      deadline_at: "2030-01-01T00:01:00.000Z",
    });
  });

  test("gets other commands without an event, and only named variables", async () => {
    const code = `console.log(JSON.stringify({ status: "ok", events: [{ type: "got",
      payload: { request, seen: Object.keys(process.env).filter((name) => name.startsWith("SHOP")) } }] }))`;
    const options = { command: "look", env: ["SHOP_A"] };
    const { call, tool } = await plugin(code, { options, env: { SHOP_A: "1", SHOP_B: "canary" } });
    const value = valueOf(await call({ q: 1 }));
    expect(value).toMatchObject({ request: { command: "look", payload: { q: 1 } }, seen: ["SHOP_A"] });
    expect(value["request"]).not.toHaveProperty("event");
    expect([tool.tier, tool.safe]).toEqual(["read", true]);
  });

  test("tells from its manifest what it does, and how harmful that is", async () => {
    const { tool } = await plugin("");
    expect([tool.tier, tool.safe]).toEqual(["destructive", false]);
    expect(tool.definition).toEqual({
      description: "Reads a page",
      parameters: { type: "object", properties: { url: { type: "string" }, depth: { type: "integer" } } },
    });
    const once = await plugin("", { options: { command: "once" } });
    expect([once.tool.tier, once.tool.safe]).toEqual(["destructive", true]);
  });
});

describe("its answer", () => {
  const page = { type: "content_ready", payload: { content: "text", step: 77 } };
  test.each<[string, JsonObject, Json]>([
    [
      "one event is its payload",
      { status: "ok", result: "read", events: [page] },
      { content: "text", step: 77 },
    ],
    [
      "several events are all of it",
      { status: "ok", result: "read", events: [page, { type: "more", payload: {} }] },
      { summary: "read", events: [page, { type: "more", payload: {} }] },
    ],
    [
      "no event is the line for people",
      { status: "ok", result: "read 3 pages" },
      { summary: "read 3 pages" },
    ],
    [
      "a result of the call is that",
      {
        status: "ok",
        events: [{ type: "agentic.tool_result", payload: { status: "ok", result: { a: 1 } } }],
      },
      { a: 1 },
    ],
    [
      "unknown keys are ignored",
      { status: "ok", result: "x", more: 1, logs: [{ level: "info", message: "m" }] },
      { summary: "x" },
    ],
  ])("%s", async (_name, response, expected) => {
    const { call } = await plugin(respond(response));
    expect(await call()).toEqual({ ok: true, value: expected });
  });

  test.each<[JsonObject | string, string]>([
    [{ status: "ok" }, "tool_no_event"],
    [{ status: "error", error: "no such page", retry: false }, "tool_failed"],
    [{ status: "ok", events: [{ type: "x", payload: [1] }] }, "bad-event"],
    [{ status: "ok", events: [{ type: "two words", payload: {} }] }, "bad-event"],
    [{ status: "ok", events: [{ type: "agentic.tool_result", payload: { status: "maybe" } }] }, "bad_result"],
    [
      {
        status: "ok",
        events: [
          {
            type: "agentic.tool_result",
            payload: { status: "error", error: { code: "gone", message: "m" } },
          },
        ],
      },
      "gone",
    ],
  ])("%j is an error of the tool", async (response, code) => {
    const { call } = await plugin(respond(response));
    expect(codeOf(await call())).toBe(code);
  });

  test.each<[Json, string]>([
    [{ status: "error", error: "busy" }, "tool_failed"],
    [{ status: "error", error: "busy", retry: true }, "tool_failed"],
    [{ status: "error", error: "" }, "tool_broken"],
    [{ status: "fine" }, "tool_broken"],
    [{ status: "ok", retry: "false" }, "tool_broken"],
    [{ status: "ok", result: 7 }, "tool_broken"],
    [{ status: "ok", events: {} }, "tool_broken"],
    [{ status: "ok", logs: ["x"] }, "tool_broken"],
    [[], "tool_broken"],
    [null, "tool_broken"],
  ])("%j is a fault to try again", async (response, code) => {
    const { call } = await plugin(respond(response));
    await expect(call()).rejects.toMatchObject({ name: "Fault", code, retry: "later" });
  });

  test.each(["", "not json", '{"status":"ok"} {"status":"ok"}'])(
    "%j on stdout is a fault to try again",
    async (text) => {
      const { call } = await plugin(
        `process.stdout.write(${JSON.stringify(text)}); console.error("it broke")`,
      );
      await expect(call()).rejects.toMatchObject({
        code: "tool_broken",
        message: expect.stringContaining("it broke"),
      });
    },
  );
});

describe("the exit code", () => {
  test("does not matter when there is a document", async () => {
    const { call } = await plugin(`${respond({ status: "ok", result: "done" })} process.exitCode = 3;`);
    expect(await call()).toEqual({ ok: true, value: { summary: "done" } });
  });

  test.each([respond({ status: "error", error: "bad config" }), ""])(
    "78 says that trying again is no use",
    async (code) => {
      const { call } = await plugin(`${code} process.exitCode = 78;`);
      expect(["tool_failed", "tool_broken"]).toContain(codeOf(await call()));
    },
  );
});

test("a failure of a command that must not be repeated is final", async () => {
  const code = respond({
    status: "error",
    error: "half done",
    logs: [{ level: "warn", message: "check by hand" }],
  });
  const { call } = await plugin(code, { options: { command: "once" } });
  expect(await call()).toEqual({ ok: false, code: "tool_failed", message: "half done\nwarn: check by hand" });
});

test.each<Json>(["half done", { code: "half", message: "m", retryable: true }])(
  "a result of the call that is the error %j is not tried again where that is not safe",
  async (error) => {
    const events = [{ type: "agentic.tool_result", payload: { status: "error", error } }];
    const code = respond({ status: "ok", events });
    await expect((await plugin(code)).call()).rejects.toMatchObject({ retry: "later" });
    expect(await (await plugin(code, { options: { command: "once" } })).call()).toMatchObject({ ok: false });
  },
);

test("a plugin that takes too long is ended, and one that writes too much", async () => {
  const slow = await plugin("setInterval(() => {}, 1000)", { options: { timeout_sec: 0.5 } });
  await expect(slow.call()).rejects.toMatchObject({ code: "tool_timeout", retry: "later" });
  const loud = await plugin(
    'process.stdout.write("x".repeat(11 * 1024 * 1024)); setInterval(() => {}, 1000)',
  );
  expect(codeOf(await loud.call())).toBe("stdout-too-large");
});

test("a plugin that never reads may answer all the same", async () => {
  const { call, bench } = await plugin("");
  const head = `#!${process.execPath}\n`;
  await writeFile(
    join(bench.around.folder, "reader", "run.cjs"),
    `${head}${respond({ status: "ok", result: "deaf" })}`,
  );
  expect(await call({ text: "x".repeat(1_000_000) })).toEqual({ ok: true, value: { summary: "deaf" } });
});

describe("a plugin is not used", () => {
  const edit = (from: string, to: string) => MANIFEST.replace(from, to);
  test.each([
    ["of another protocol", edit("protocol: 2", "protocol: 1"), "`protocol` is not 2"],
    [
      "of another manifest",
      edit("manifest_version: 1", "manifest_version: 2"),
      "`manifest_version` is `2`, not 1",
    ],
    ["without a name", edit("name: reader", "name: Reader!"), "`name` is not a plugin's name"],
    ["whose program lies elsewhere", edit("run.cjs", "../run.cjs"), "leads out of the plugin's folder"],
    ["whose program is missing", edit("run.cjs", "gone.cjs"), "is missing"],
    ["whose manifest is broken", "a: [", "its manifest cannot be read"],
    ["without commands", edit("commands:", "others:"), "`commands` is not a list of commands"],
  ])("%s", async (_name, manifest, problem) => {
    const bench = await folder("", { manifest });
    const [found, ...more] = problemsOf(bindPlugin, { plugin: "reader" }, bench.around);
    expect(found).toContain(`tools.t.plugin: the plugin cannot be used: `);
    expect(found).toContain(problem);
    expect(more).toEqual([]);
  });

  test("whose program is a link out of its folder, or may not be executed, or can be replaced by anybody", async () => {
    const bench = await folder("");
    const home = join(bench.around.folder, "reader");
    const problems = () => problemsOf(bindPlugin, { plugin: "reader/manifest.yaml" }, bench.around).join();
    expect(problems()).toBe("");
    await chmod(home, 0o777);
    expect(problems()).toContain("everybody may write to its folder");
    await chmod(home, 0o755);
    await chmod(join(home, "run.cjs"), 0o644);
    expect(problems()).toContain("not executable");
    await writeFile(join(bench.folder, "outside", "run.cjs"), "");
    await symlink(join(bench.folder, "outside", "run.cjs"), join(home, "link.cjs"));
    await writeFile(join(home, "manifest.yaml"), edit("run.cjs", "link.cjs"));
    expect(problems()).toContain("leads out of its folder");
  });

  test("for a command it does not have, or without what it needs", async () => {
    const bench = await folder("", { manifest: edit("{ optional: [lang] }", "{ required: [token_file] }") });
    expect(problemsOf(bindPlugin, { plugin: "reader", command: "hundle" }, bench.around)).toEqual([
      "tools.t.command: the plugin has no command `hundle` (it has handle, look, once, health)",
    ]);
    expect(problemsOf(bindPlugin, { plugin: "reader" }, bench.around)).toEqual([
      "tools.t.config: the plugin needs `token_file` in `config`",
    ]);
  });
});
