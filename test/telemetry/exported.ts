// The SDK, started as a command starts it, and a collector that it sends to; once for a file of tests.

import { afterAll, beforeAll } from "vitest";
import { type StartedSdk, startSdk } from "../../src/telemetry/start-sdk.ts";
import { type Collector, startCollector } from "./collector.ts";

export function exportedHere(): () => Collector {
  let collector: Collector | undefined;
  let sdk: StartedSdk | undefined;
  beforeAll(async () => {
    collector = await startCollector();
    Object.assign(process.env, exportTo(collector.url));
    const warn = (line: string) => {
      throw new Error(line);
    };
    sdk = await startSdk({ env: process.env, warn, folder: process.cwd() });
  });
  afterAll(async () => {
    await sdk?.flush();
    await collector?.[Symbol.asyncDispose]();
  });
  return () => {
    if (collector === undefined) throw new Error("no collector");
    return collector;
  };
}

/** Sent at once and without loss, in a form that can be read here. */
export const exportTo = (url: string): Readonly<Record<string, string>> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BSP_SCHEDULE_DELAY: "20",
  OTEL_BSP_MAX_QUEUE_SIZE: "100000",
  OTEL_METRIC_EXPORT_INTERVAL: "200",
  OTEL_METRIC_EXPORT_TIMEOUT: "200",
});
