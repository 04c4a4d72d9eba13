// config.yaml, manifests and what stops a start (sections 3, 4, 15.3; P9 to P11, X3, FX-4).

import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { durationMs } from "../../src/base/duration.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { emits, gatewayFolder, setupOf, temporaryFolder, writePlugin } from "./gateway-folder.ts";

function setupFrom(
  config: string,
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "plugins"));
  for (const name of ["agentic-loop", "jina-reader", "fabric"])
    writePlugin(join(folder, "plugins"), name, emits());
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  writeFileSync(join(folder, "config.yaml"), config);
  return setupOf(folder, env);
}

/** Without the folder. */
const placed = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replace(/^\S*\/(?=[^/]+:\d+:\d+: )/, ""));

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["1h30m", 5_400_000],
  ["3d", 259_200_000],
  ["1w", 604_800_000],
  ["hourly", 3_600_000],
  ["daily", 86_400_000],
  ["weekly", 604_800_000],
  ["0s", 0],
  ["", undefined],
  ["30", undefined],
  ["1.5h", undefined],
  ["-5s", undefined],
  ["5s ", undefined],
  ["999999999999w", undefined],
])("`%s` is a time of %s ms", (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

const rfcConfig = `
plugins:
  agentic-loop:
    schedule: null
    timeouts:
      handle: 120s
    config:
      max_steps: 20
      max_reframes: 2
      allowed_plugins: [fetch, fabric, jina-reader]
`;

const rfcPipelines = `
pipelines:
  - name: agentic-tool-fetch
    on: agentic.tool_request.jina-reader
    steps:
      - id: fetch
        uses: jina-reader
      - id: resume
        uses: agentic-loop
  - name: agentic-tool-fabric
    on: agentic.tool_request.fabric
    steps:
      - id: fabric
        uses: fabric
      - id: resume
        uses: agentic-loop
`;

describe("files", () => {
  test("the configuration and the pipelines of RFC-103 load as they are written (P10)", () => {
    const setup = setupFrom(rfcConfig, {}, { "pipelines.yaml": rfcPipelines });
    expect({ errors: setup.errors, warnings: setup.warnings }).toEqual({ errors: [], warnings: [] });
    expect([...setup.pipelines.keys()]).toEqual(["agentic-tool-fabric", "agentic-tool-fetch"]);
    expect(setup.config.plugins.get("agentic-loop")).toMatchObject({
      ...{ enabled: true, schedules: [], attemptsMax: 4, backoffMs: 30_000, noSelfTrigger: true },
      timeoutsMs: new Map([["handle", 120_000]]),
    });
    expect(setup.config).toMatchObject({ context: "isolated", api: { enabled: false, port: 8080 } });
  });

  test.each([
    [
      "the older gateway",
      "service: { tick_interval: 30s, dedupe_ttl: 20s }\nplugins_dir: ./plugins",
      "schedule: { every: 1m }",
    ],
    [
      "the newer gateway",
      "service: { max_workers: 1 }\nplugin_roots: [./plugins]\ninclude: [pipelines.yaml]",
      "schedules: [{ id: sweep, every: 1m, command: poll }]",
    ],
    ["ours", "service: { tick_interval: 30s }\nplugins_dir: ./plugins", "schedule: { every: 1m }"],
  ])("the plugin entries for %s load here (FX-4)", (_, head, schedule) => {
    const entry = `plugins:
  agentic-loop:
    enabled: true
    ${schedule}
    timeouts: { handle: 120s, poll: 120s }
    config: { allowed_plugins: [jina-reader, fabric], max_steps: 20, max_reframes: 2 }
`;
    const setup = setupFrom(`${head}\n${entry}`, {}, { "pipelines.yaml": rfcPipelines });
    expect(setup.errors).toEqual([]);
    expect(setup.pipelines.size).toBe(2);
    expect(setup.config.plugins.get("agentic-loop")?.schedules).toMatchObject([
      { everyMs: 60_000, command: "poll" },
    ]);
  });

  test("pipelines come from the configuration, its includes and the folder beside it, each file once", () => {
    const one = (name: string) => `pipelines: [{ name: ${name}, on: go, steps: [{ uses: fabric }] }]`;
    const files = { "more.yaml": one("m"), "pipelines/b.yaml": one("b"), "pipelines/a.yml": one("a") };
    const setup = setupFrom(`include: [more.yaml, pipelines/b.yaml]\n${one("c")}`, {}, files);
    expect(setup.errors).toEqual([]);
    expect([...setup.pipelines.keys()]).toEqual(["a", "b", "c", "m"]);
    const twice = setupFrom(`include: [more.yaml]\n${one("m")}`, {}, { "more.yaml": one("m") });
    expect(placed(twice.errors)).toEqual(["more.yaml:1:13: two pipelines have the name `m`"]);
    const plugins = "plugins: { fabric: { enabled: true } }";
    const again = setupFrom(`include: [more.yaml]\n${plugins}`, {}, { "more.yaml": plugins });
    expect(placed(again.errors)).toEqual(["more.yaml:1:12: there is `plugins.fabric` a second time"]);
  });

  test("`on` is a text in every spelling, and so are off, yes and no (P11)", () => {
    const text =
      "plugins: { fabric: { config: { a: on, b: off, c: yes, d: no } } }\npipelines:\n  - name: p\n    on: off\n    steps: [{ uses: fabric }]\n";
    const setup = setupFrom(text);
    expect(setup.pipelines.get("p")?.on).toBe("off");
    expect(setup.config.plugins.get("fabric")?.config).toEqual({ a: "on", b: "off", c: "yes", d: "no" });
  });

  test("a variable's value is a value, whatever is in it, and one that is not set is an error (P11)", () => {
    const text =
      "service: { name: 'x-${NAME}' }\nplugins: { fabric: { config: { a: '${EVIL}', b: ['${NAME}'] } } }";
    const evil = "1\nservice: { strict_mode: true }";
    const setup = setupFrom(text, { NAME: "n", EVIL: evil });
    expect(setup.errors).toEqual([]);
    expect(setup.config.service.name).toBe("x-n");
    expect(setup.config.plugins.get("fabric")?.config).toEqual({ a: evil, b: ["n"] });
    expect(setupFrom(text).errors.join("\n")).toContain("needs the variable `EVIL`, which is not set");
  });

  test("what is no YAML, too deep an alias, no mapping or not there is told, not thrown", () => {
    expect(setupFrom("a: [").errors[0]).toContain("is not YAML");
    expect(setupFrom("- a").errors[0]).toContain("is not a mapping");
    expect(setupFrom("a: 1\na: 2").errors[0]).toContain("is not YAML");
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${["b", "c", "d", "e"].map((name, n) => `${name}: &${name} [${Array(9).fill(`*${"abcd"[n]}`).join(",")}]`).join("\n")}`;
    expect(setupFrom(bomb).errors.length).toBeGreaterThan(0);
    expect(setupOf(temporaryFolder()).errors[0]).toContain("is not there");
  });
});

describe("keys", () => {
  test("that nobody knows are warnings with a guess, and errors in strict mode", () => {
    const text = "servce: {}\nplugins: { fabric: { shedule: null } }";
    const setup = setupFrom(text);
    expect(setup.errors).toEqual([]);
    const told = [
      "config.yaml:2:22: `plugins.fabric.shedule` is not a key of the configuration (did you mean `schedule`?)",
      "config.yaml:1:1: `servce` is not a key of the configuration (did you mean `service`?)",
    ];
    expect(placed(setup.warnings)).toEqual(told);
    expect(placed(setupFrom(`${text}\nservice: { strict_mode: true }`).errors)).toEqual(told);
  });

  test.each([
    ["routes: [{ from: a, to: b }]", "`routes` is never run by any gateway (write `pipelines` instead)"],
    ["webhooks: { endpoints: [{ path: /x }] }", "`webhooks.endpoints` is not supported"],
    [
      "plugins: { fabric: { schedules: [{ id: a, cron: '* * * * *' }] } }",
      "`plugins.fabric.schedules[0].cron` is not supported",
    ],
    ["plugins: { fabric: { schedules: [{ id: a }] } }", "`plugins.fabric.schedules[0].every` is missing"],
    ["plugins: { fabric: { schedule: { every: 0s } } }", "`plugins.fabric.schedule.every` is no time at all"],
    ["plugins: { fabric: { schedules: [{ id: a, every: 1m, command: nap }] } }", "schedule `a` calls `nap`"],
    ["service: { tick_interval: 10ms }", "`service.tick_interval` is below 1s"],
    ["service: { dedupe_ttl: soon }", "`service.dedupe_ttl` is not a time"],
    ["plugins_dir: a\nplugin_roots: [b]", "`plugins_dir` and `plugin_roots` say the same"],
    ["state: { path: a }\ndatabase: { path: b }", "is another name of `state.path`"],
    ["api: { enabled: true, listen: '0.0.0.0:1' }", "there is no token"],
    ["api: { enabled: true, listen: 'nowhere' }", "`api.listen` is not an address and a port"],
    ["api: { auth: { tokens: [{ token: a, scopes: [everything] }] } }", "`everything`, which is no scope"],
    ["router: { context: shared }", "`router.context` is not one of isolated, accumulate"],
    [
      "plugins: { fabric: { retry: { max_attempts: 0 } } }",
      "`plugins.fabric.retry.max_attempts` is not a whole number",
    ],
    [
      "plugins: { fabric: { enabled: false } }\npipelines: [{ name: p, on: go, steps: [{ uses: fabric }] }]",
      "uses `fabric`, which is not enabled",
    ],
    ["pipelines: [{ name: p, on: go, steps: [{ uses: none }] }]", "uses `none`, which is not installed"],
    [
      "plugins: { agentic-loop: { config: { allowed_plugins: [agentic-loop] } } }",
      "has `agentic-loop` itself",
    ],
  ])("%s is an error", (text, message) => {
    expect(setupFrom(text).errors.join("\n")).toContain(message);
  });

  test.each([
    ["plugins: [fabric]", "config.yaml:1:1: `plugins` is not a mapping"],
    ["plugins:\n  fabric: 5", "config.yaml:2:3: `plugins.fabric` is not a mapping"],
    ["include: more.yaml", "config.yaml:1:1: `include` is not a list"],
    ["include: [5]", "config.yaml:1:1: `include[0]` is not a text"],
    [
      "service:\n  name: '${UNSET}'",
      "config.yaml:2:9: `config.yaml` needs the variable `UNSET`, which is not set",
    ],
    [
      "api:\n  auth:\n    tokens: [{ token: t, scopes: [x] }]",
      "config.yaml:3:26: `api.auth.tokens[0].scopes` has",
    ],
    ["api:\n  auth:\n    tokens: [7]", "config.yaml:3:14: `api.auth.tokens[0]` is not a mapping"],
    ["pipelines:\n  - { name: p, on: go, steps: [{ uses: none }] }", "config.yaml:2:32: pipeline `p`: step"],
    ["pipelines:\n  - { name: p, on: go, steps: [] }", "config.yaml:2:5: pipeline `p`: `steps` is not"],
    [
      "pipelines:\n  - name: p\n    on: go\n    steps:\n      - { uses: fabric, if: x }",
      "config.yaml:5:9: pipeline `p`",
    ],
    [
      "pipelines:\n  - name: p\n    on: go\n    steps:\n      - { call: q }",
      "config.yaml:5:9: pipeline `p`: step",
    ],
    ["plugins:\n  a: {}\n  a: {}", "config.yaml:3:3: `config.yaml` is not YAML"],
    [
      "x: &a\n  routes: []\nplugins: { fabric: { retry: *a } }",
      "config.yaml:2:3: `plugins.fabric.retry.routes` is not",
    ],
    ["service:\n  name: n\n  a.b: 1", "config.yaml:3:3: `service.a.b` is not a key"],
    ["x: &a\n  - { y: *a }", "`config.yaml` cannot be read: an alias leads into what it is part of"],
  ])("%j is told with its place", (text, message) => {
    const { errors, warnings } = setupFrom(text);
    const lines = placed([...errors, ...warnings]).map((line) => line.replace(/`\/\S*\/config/, "`config"));
    expect(lines.join("\n")).toContain(message);
  });

  test("that other gateways obey and this one does not are warned about", () => {
    const setup = setupFrom(
      "service: { max_workers: 4 }\nplugins: { fabric: { parallelism: 2, circuit_breaker: {} } }",
    );
    expect(setup.errors).toEqual([]);
    expect(placed(setup.warnings)).toEqual([
      "config.yaml:1:12: `service.max_workers` means 1: one job runs at a time",
      "config.yaml:2:22: `plugins.fabric.parallelism` is ignored",
      "config.yaml:2:38: `plugins.fabric.circuit_breaker` is ignored",
    ]);
  });
});

describe("tokens of an agent (X3):", () => {
  const start =
    "pipelines:\n  - { name: start, on: agentic.start, steps: [{ uses: agentic-loop }] }\n  - { name: other, on: x, steps: [{ uses: fabric }] }\n";
  const token = (scopes: string) =>
    `${start}api: { auth: { tokens: [{ token: t, for_plugin: agentic-loop, scopes: [${scopes}] }] } }`;

  test.each([
    "'*'",
    "'admin:*'",
    "'plugin:rw'",
    "'plugin:agentic-loop:rw'",
    "'plugin:agentic-loop:ro'",
    "'pipeline:start'",
  ])("%s is refused", (scope) => {
    expect(setupFrom(token(scope)).errors.join()).toContain("the agent could start itself");
  });

  test("what leads elsewhere is allowed", () => {
    expect(
      setupFrom(token("'plugin:fabric:rw', 'pipeline:other', 'jobs:ro', 'plugin:ro', 'events:ro'")).errors,
    ).toEqual([]);
  });
});

describe("plugins that cannot be trusted are skipped, and stop a pipeline that uses them (P9):", () => {
  const uses = (name: string): JsonObject[] => [{ name: "p", on: "go", steps: [{ uses: name }] }];

  test.each<[string, (home: string, folder: string) => void, string]>([
    [
      "a link that leads out",
      (home, folder) => {
        renameSync(join(home, "run"), join(folder, "elsewhere"));
        symlinkSync(join(folder, "elsewhere"), join(home, "run"));
      },
      "leads out of its folder",
    ],
    [
      "a folder that is a link",
      (home, folder) => {
        renameSync(home, join(folder, "elsewhere"));
        symlinkSync(join(folder, "elsewhere"), home);
      },
      "leads out of the plugin root",
    ],
    ["no x bit", (home) => chmodSync(join(home, "run"), 0o644), "not executable"],
    ["a folder for everybody", (home) => chmodSync(home, 0o777), "everybody may write"],
    [
      "a folder as its manifest",
      (home) => {
        rmSync(join(home, "manifest.yaml"));
        mkdirSync(join(home, "manifest.yaml"));
      },
      "it cannot be read (EISDIR)",
    ],
    [
      "a folder as its program",
      (home) => {
        rmSync(join(home, "run"));
        mkdirSync(join(home, "run"));
      },
      "its entrypoint is not a file",
    ],
    [
      "a link to itself as its program",
      (home) => {
        rmSync(join(home, "run"));
        symlinkSync("run", join(home, "run"));
      },
      "it cannot be read (ELOOP)",
    ],
    [
      "aliases that lead nowhere",
      (home) => writeFileSync(join(home, "manifest.yaml"), "name: *it\n"),
      "its manifest cannot be read",
    ],
    [
      "`..` in the entrypoint",
      (home) =>
        writeFileSync(
          join(home, "manifest.yaml"),
          stringify({ name: "it", version: "1", protocol: 2, entrypoint: "../run", commands: ["handle"] }),
        ),
      "leads out",
    ],
    [
      "another protocol",
      (home) =>
        writeFileSync(
          join(home, "manifest.yaml"),
          stringify({ name: "it", version: "1", protocol: 1, entrypoint: "run", commands: ["handle"] }),
        ),
      "`protocol` is not 2",
    ],
    [
      "another kind of manifest",
      (home) =>
        writeFileSync(
          join(home, "manifest.yaml"),
          stringify({
            manifest_spec: "x",
            name: "it",
            version: "1",
            protocol: 2,
            entrypoint: "run",
            commands: ["handle"],
          }),
        ),
      "`manifest_spec` is `x`",
    ],
  ])("%s", (_, harm, why) => {
    const folder = gatewayFolder({ plugins: { it: emits() }, pipelines: uses("it") });
    expect(setupOf(folder).errors).toEqual([]);
    harm(join(folder, "plugins/it"), folder);
    const setup = setupOf(folder);
    expect(setup.warnings.join()).toContain(why);
    expect(setup.errors.join()).toContain("uses `it`, which is skipped");
  });

  test("a plugin is known by its name, not by its folder; a second one of that name is skipped", () => {
    const folder = gatewayFolder({
      plugins: { a: emits(), b: emits() },
      manifests: { a: { name: "x" }, b: { name: "x" } },
      pipelines: uses("x"),
    });
    const setup = setupOf(folder);
    expect(setup.errors).toEqual([]);
    expect([...setup.plugins.keys()]).toEqual(["x"]);
    expect(setup.skipped.get("b")).toContain("another plugin `x`");
  });

  test("a required key that is missing is an error, one that is not declared a warning", () => {
    const manifests = { it: { config_keys: { required: ["must"], optional: ["may"] } } };
    const config = { plugins: { it: { config: { may: 1, extra: 2 } } } };
    const setup = setupOf(gatewayFolder({ plugins: { it: emits() }, manifests, config }));
    expect(placed(setup.errors)).toEqual(["config.yaml:6:7: plugin `it`: `config.must` is missing"]);
    expect(placed(setup.warnings)).toEqual([
      "config.yaml:7:7: plugin `it`: its manifest does not know `config.extra`",
    ]);
  });

  test("strictly, a manifest says what it is and the type of every command", () => {
    const setup = setupOf(
      gatewayFolder({ plugins: { it: emits() }, config: { service: { plugin_protocol: "strict" } } }),
    );
    expect(setup.skipped.get("it")).toContain("`manifest_spec` is missing");
  });
});
