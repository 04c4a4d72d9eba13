// docs/telemetry.md: its command works as written, and its tables name what there is.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { METRICS } from "../../src/telemetry/metric-list.ts";
import { MetricRegistry } from "../../src/telemetry/metric-registry.ts";
import { EVENTS, LINKS, OPERATIONS } from "../../src/telemetry/names.ts";
import { prometheusText } from "../../src/telemetry/prometheus-text.ts";
import { folderWith } from "../cli/run-cli.ts";
import { startCollector } from "./collector.ts";

const page = readFileSync(new URL("../../docs/telemetry.md", import.meta.url), "utf8");
const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

const pack = `id: said
name: Said
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts: { say: { id: say, name: Say, version: 1.0.0, system_template: Say it. } }
`;

test("the command sends spans to the endpoint it names", async () => {
  const collector = await startCollector();
  onTestFinished(() => collector[Symbol.asyncDispose]());
  using folder = folderWith({ "pack.yaml": pack, "script.yaml": "prompts: { say: [{ text: hello }] }\n" });
  const [, line = ""] = /^(OTEL_\S+ packloop .*)$/m.exec(page) ?? [];
  const [setting = "", , ...args] = line.split(" ");
  const [name = "", endpoint = ""] = setting.split("=");
  expect(endpoint).toMatch(/^http:\/\/127\.0\.0\.1:4318$/);
  const env = { ...process.env, [name]: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: folder.path,
    env,
    stdio: "ignore",
  });
  expect(await once(child, "close")).toEqual([0, null]);
  expect(collector.spans().map((span) => span.name)).toContain("invoke_workflow Said");
});

test("every metric is in the table by both of its names, and none that is not", () => {
  const scraped = prometheusText(new MetricRegistry().families());
  const families = [...scraped.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  const rows = [...page.matchAll(/^\| `((?:gen_ai|packloop)\.[\w.]+)` \| `(\w+)` \|/gm)];
  expect(rows.map(([, name]) => name)).toEqual(Object.values(METRICS).map(({ name }) => name));
  expect(rows.map(([, , name]) => name)).toEqual(families);
});

test("spans, links and events are named as they are made", () => {
  const spans = [...page.matchAll(/^\| `(\w+) [A-Z]+` \|/gm)].map(([, name]) => name);
  expect(spans).toEqual(Object.values(OPERATIONS));
  for (const name of [LINKS.previous, LINKS.fork, EVENTS.waiting]) expect(page).toContain(`\`${name}\``);
});
