// The text that Prometheus reads, rule by rule.

import { describe, expect, test } from "vitest";
import { METRICS, type MetricSpec } from "./metric-list.ts";
import { MetricRegistry } from "./metric-registry.ts";
import { prometheusText } from "./prometheus-text.ts";

const textOf = (registry: MetricRegistry, spec: MetricSpec): readonly string[] =>
  prometheusText(registry.families().filter((family) => family.spec === spec))
    .trimEnd()
    .split("\n");

describe("a counter", () => {
  test("has help and type before its samples, and a name that ends in total", () => {
    const registry = new MetricRegistry();
    registry.add(METRICS.visits, 1, { "gen_ai.workflow.name": "W", "promptpack.state": "work" });
    registry.add(METRICS.visits, 2, { "gen_ai.workflow.name": "W", "promptpack.state": "work" });
    registry.add(METRICS.visits, 1, { "gen_ai.workflow.name": "W", "promptpack.state": "end" });
    expect(textOf(registry, METRICS.visits)).toEqual([
      "# HELP packloop_visits_total States entered.",
      "# TYPE packloop_visits_total counter",
      'packloop_visits_total{gen_ai_workflow_name="W",promptpack_state="work"} 3',
      'packloop_visits_total{gen_ai_workflow_name="W",promptpack_state="end"} 1',
    ]);
  });

  test("escapes what would end a label or a line", () => {
    const registry = new MetricRegistry();
    registry.add(METRICS.redirects, 1, { "promptpack.state": 'a"b\\c\nd' });
    expect(textOf(registry, METRICS.redirects).at(-1)).toBe(
      'packloop_redirects_total{promptpack_state="a\\"b\\\\c\\nd"} 1',
    );
  });

  test("of help escapes backslashes and line ends, and leaves quotes", () => {
    const spec = { name: "x", kind: "counter" as const, unit: "{x}", description: 'a "b" \\ c\nd' };
    expect(prometheusText([{ spec, series: [] }])).toBe(
      '# HELP x_total a "b" \\\\ c\\nd\n# TYPE x_total counter\n',
    );
  });
});

describe("what goes up and down", () => {
  test("is a gauge with its last value", () => {
    const registry = new MetricRegistry();
    registry.add(METRICS.openAsks, 2, { kind: "event" });
    registry.add(METRICS.openAsks, -1, { kind: "event" });
    expect(textOf(registry, METRICS.openAsks)).toEqual([
      "# HELP packloop_open_asks What turns of this process have asked and nobody has answered.",
      "# TYPE packloop_open_asks gauge",
      'packloop_open_asks{kind="event"} 1',
    ]);
  });
});

describe("a histogram", () => {
  test("has cumulative buckets up to +Inf, a sum and a count", () => {
    const registry = new MetricRegistry();
    for (const seconds of [0.01, 0.011, 0.5, 100])
      registry.add(METRICS.operationDuration, seconds, { a: "b" });
    const lines = textOf(registry, METRICS.operationDuration);
    expect(lines[1]).toBe("# TYPE gen_ai_client_operation_duration_seconds histogram");
    const buckets = lines.flatMap((line) => /_bucket\{a="b",le="(.*)"\} (\d+)$/.exec(line)?.slice(1) ?? []);
    expect(buckets.filter((_, index) => index % 2 === 0)).toEqual([
      ...["0.01", "0.02", "0.04", "0.08", "0.16", "0.32", "0.64", "1.28", "2.56", "5.12"],
      ...["10.24", "20.48", "40.96", "81.92", "+Inf"],
    ]);
    expect(buckets.filter((_, index) => index % 2 === 1).map(Number)).toEqual([
      ...[1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4],
    ]);
    expect(lines.slice(-2)).toEqual([
      'gen_ai_client_operation_duration_seconds_sum{a="b"} 100.521',
      'gen_ai_client_operation_duration_seconds_count{a="b"} 4',
    ]);
  });

  test("of tokens ends at the conventions' last bucket", () => {
    expect(METRICS.tokenUsage.buckets.at(0)).toBe(1);
    expect(METRICS.tokenUsage.buckets.at(-1)).toBe(67_108_864);
    expect(METRICS.tokenUsage.buckets.length).toBe(14);
  });

  test("takes no measurement that is no number", () => {
    const registry = new MetricRegistry();
    registry.add(METRICS.commitDuration, Number.NaN);
    expect(textOf(registry, METRICS.commitDuration)).toHaveLength(2);
  });
});

describe("labels without end", () => {
  test("are summed up under one beyond two thousand", () => {
    const registry = new MetricRegistry();
    for (let index = 0; index < 2_100; index++) registry.add(METRICS.visits, 1, { state: String(index) });
    const lines = textOf(registry, METRICS.visits);
    expect(lines).toHaveLength(2 + 2_001);
    expect(lines.at(-1)).toBe('packloop_visits_total{otel_metric_overflow="true"} 100');
  });
});

test("every line of every metric is a comment or a sample as the format has them", () => {
  const registry = new MetricRegistry();
  for (const spec of Object.values(METRICS)) registry.add(spec, 1, { "a.b": "x", "1c": "y" });
  const text = prometheusText(registry.families());
  expect(text.endsWith("\n")).toBe(true);
  const label = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*"`;
  const sample = new RegExp(
    String.raw`^[a-zA-Z_:][\w:]*\{${label}(?:,${label})*\} (?:[-+]?[\d.e+-]+|[-+]Inf|NaN)$`,
  );
  const comment = /^# (HELP [a-zA-Z_:][\w:]* .+|TYPE [a-zA-Z_:][\w:]* (counter|gauge|histogram))$/;
  const odd = text
    .trimEnd()
    .split("\n")
    .filter((line) => !sample.test(line) && !comment.test(line));
  expect(odd).toEqual([]);
});
