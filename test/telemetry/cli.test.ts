// Telemetry of commands as processes: what starts it, what it sends, and that it holds nobody up.

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Collector } from "./collector.ts";
import { exportTo } from "./exported.ts";
import { collectorHere, idOf, packFolder, packloop, running } from "./packloop-process.ts";

const withoutSdk = fileURLToPath(new URL("without-sdk.ts", import.meta.url));

const namesOf = (collector: Collector, run: string) =>
  collector
    .spans(run)
    .map(({ name }) => name)
    .sort();

describe("packloop run", () => {
  test("sends its spans before it leaves, and nothing of its command line", async () => {
    const collector = await collectorHere();
    const ran = await packloop(running, { cwd: packFolder(), env: exportTo(collector.url) });
    expect([ran.code, ran.stderr.includes("warning")]).toEqual([0, false]);
    expect(namesOf(collector, idOf(ran))).toEqual([
      ...["chat script", "chat script", "chat script"],
      ...["invoke_agent Closer", "invoke_agent Worker", "invoke_agent Worker"],
      "invoke_workflow Looping",
    ]);
    expect(collector.spans()[0]?.resource["service.name"]).toBe("packloop");
    expect(collector.points().map(({ name }) => name)).toContain("packloop.visits");
    expect(collector.text()).not.toContain("canary-7d1e");
  });

  test("goes on in the trace of who started it", async () => {
    const collector = await collectorHere();
    const env = {
      ...exportTo(collector.url),
      TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    };
    const ran = await packloop(running, { cwd: packFolder(), env });
    const spans = collector.spans(idOf(ran));
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
      new Set(["0af7651916cd43dd8448eb211c80319c"]),
    );
    const workflow = spans.find(({ name }) => name.startsWith("invoke_workflow"));
    expect(workflow?.parentSpanId).toBe("b7ad6b7169203331");
  });

  test("that was killed is gone on with in a segment linked to the lost one", async () => {
    const collector = await collectorHere();
    const cwd = packFolder();
    const env = exportTo(collector.url);
    const killed = await packloop(running, { cwd, env: { ...env, PACKLOOP_CRASH_AT: "commit:2:after" } });
    expect(killed.signal).toBe("SIGKILL");
    const resumed = await packloop(["resume", "@", "--json"], { cwd, env });
    expect(resumed.code).toBe(0);
    const exported = await packloop(["export", "@"], { cwd });
    const notes = [...exported.stdout.matchAll(/"traceparent":"00-(\w+)-(\w+)-01"/g)];
    const [lost] = notes;
    const spans = collector.spans(idOf(resumed));
    const segments = spans.filter(({ name }) => name.startsWith("invoke_workflow"));
    expect(segments.map(({ attributes }) => attributes["promptpack.segment"])).toEqual([2]);
    expect(segments[0]?.links.map(({ traceId, spanId }) => [traceId, spanId])).toEqual([lost?.slice(1, 3)]);
  });

  test("without the SDK says in one line what to install, and runs", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" };
    const ran = await packloop(running, { cwd: packFolder(), env, node: ["--import", withoutSdk] });
    expect(ran.code).toBe(0);
    expect(ran.stderr.split("\n").filter((line) => line.includes("OTEL_"))).toEqual([
      "warning: OTEL_* variables ask for telemetry, which needs `@opentelemetry/sdk-node` (run: npm install @opentelemetry/sdk-node)",
    ]);
  });

  test("is silent about telemetry where it is disabled", async () => {
    const collector = await collectorHere();
    const env = { ...exportTo(collector.url), OTEL_SDK_DISABLED: "true" };
    const ran = await packloop(running, { cwd: packFolder(), env });
    expect([ran.code, collector.text(), ran.stderr.includes("warning")]).toEqual([0, "", false]);
  });
});

describe("a collector", () => {
  /** Longer than a test may take: only a flush that gives up by itself ends. */
  const patient = {
    OTEL_EXPORTER_OTLP_TIMEOUT: "3600000",
    OTEL_BSP_EXPORT_TIMEOUT: "3600000",
    OTEL_METRIC_EXPORT_INTERVAL: "3600000",
    OTEL_METRIC_EXPORT_TIMEOUT: "3600000",
  };

  test("that takes everything and answers nothing keeps no run from ending, and no process from leaving", async () => {
    const collector = await collectorHere({ answers: false });
    const env = { ...exportTo(collector.url), ...patient };
    const ran = await packloop(running, { cwd: packFolder(), env });
    expect(ran.code).toBe(0);
    expect(collector.held()).toBeGreaterThan(0);
    expect(ran.stderr).toContain("warning: telemetry could not be sent");
  });

  test("that is not there is no failure either", async () => {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address() as AddressInfo;
    probe.close();
    const env = { ...exportTo(`http://127.0.0.1:${port}`), ...patient };
    const ran = await packloop(running, { cwd: packFolder(), env });
    expect(ran.code).toBe(0);
  });
});
