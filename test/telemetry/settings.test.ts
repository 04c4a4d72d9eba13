// `telemetry:` of packloop.yaml: what it starts, what it sends where, and what wins over it.

import { describe, expect, test } from "vitest";
import { testServer } from "../adapter/test-server.ts";
import type { Collector } from "./collector.ts";
import { exportTo } from "./exported.ts";
import { collectorHere, idOf, packFolder, packloop, running } from "./packloop-process.ts";

/** In a form that can be read here; who is sent to is not said. */
const { OTEL_EXPORTER_OTLP_ENDPOINT: _endpoint, ...json } = exportTo("");

const config = (collector: Collector, more = "") =>
  `telemetry:\n  endpoint: ${collector.url}\n  service_name: tides\n${more}`;

const segments = (collector: Collector) =>
  collector.spans().filter(({ name }) => name.startsWith("invoke_workflow"));

describe("telemetry in packloop.yaml", () => {
  test("starts it for the run, and for whoever goes on with the run from elsewhere", async () => {
    const collector = await collectorHere();
    const asking = "states: { work: [{ event: Ask }], end: [{ text: Goodbye. }] }\n";
    const cwd = packFolder({ "script.yaml": asking, "other.yaml": config(collector) });
    const run = idOf(await packloop([...running, "--config", "other.yaml"], { cwd, env: json }));
    expect((await packloop(["send", run, "Yes", "--follow"], { cwd, env: json })).code).toBe(0);
    expect(segments(collector).map(({ attributes }) => attributes["promptpack.segment"])).toEqual([1, 2]);
    expect(segments(collector)[0]?.resource["service.name"]).toBe("tides");
  });

  test("sends headers from variables, which neither a journal nor a tool gets to see", async () => {
    const headers: unknown[] = [];
    const server = await testServer((request, response) => {
      headers.push(request.headers["x-api-key"]);
      response.end("{}");
    });
    const files = {
      "packloop.yaml": `telemetry: { endpoint: "${server.url}", headers: { X-Api-Key_env: MY_KEY } }
tools: { look: { builtin: proc, argv: [env], sandbox: none, tier: read, approval: auto } }
`,
      "script.yaml": `states:
  work: [{ calls: [{ tool: look }] }, { event: Done }]
  end: [{ text: "it was canary-99, =" }]
`,
    };
    const cwd = packFolder(files);
    const ran = await packloop(running, { cwd, env: { ...json, MY_KEY: "canary-99, =" } });
    expect(ran.code, ran.stderr).toBe(0);
    expect(new Set(headers)).toEqual(new Set(["canary-99, ="]));
    expect(ran.stdout).not.toContain("canary-99");
    expect(ran.stdout).not.toContain("OTEL_EXPORTER_OTLP_HEADERS");
  });

  test("gives way to the environment, headers and all", async () => {
    const [file, env] = [await collectorHere(), await collectorHere()];
    const more = "  headers: { authorization_env: UNSET }\n  content: true\n";
    const cwd = packFolder({ "packloop.yaml": config(file, more) });
    const set = { OTEL_SERVICE_NAME: "env", PACKLOOP_OTEL_CONTENT: "0" };
    const ran = await packloop(running, { cwd, env: { ...exportTo(env.url), ...set } });
    expect(ran.stderr).not.toContain("UNSET");
    expect([file.text(), segments(env).map(({ resource }) => resource["service.name"])]).toEqual([
      "",
      ["env"],
    ]);
    expect(env.text()).not.toContain("canary-7d1e");
  });

  test("lets contents leave where it says so, and says of a header that its variable is not set", async () => {
    const collector = await collectorHere();
    const more = "  headers: { authorization_env: UNSET }\n  content: true\n";
    const cwd = packFolder({ "packloop.yaml": config(collector, more) });
    const ran = await packloop(running, { cwd, env: json });
    expect(ran.stderr).toContain("warning: `UNSET` is not set, so its header of `telemetry` is not sent");
    expect(collector.text()).toContain("canary-7d1e");
  });

  test("with a mistake in it stops the command with its place", async () => {
    const cwd = packFolder({ "packloop.yaml": "telemetry:\n  endpoints: http://127.0.0.1:4318\n" });
    const ran = await packloop(running, { cwd });
    expect([ran.code, ran.stderr]).toEqual([
      2,
      "error: packloop.yaml:2:3: unknown key `endpoints` (did you mean `endpoint`?)\n",
    ]);
  });
});
