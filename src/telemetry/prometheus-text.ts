// Metrics as Prometheus reads them: its text format, version 0.0.4.

import type { MetricSpec } from "./metric-list.ts";
import type { Family, Labels, Series } from "./metric-registry.ts";

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export const prometheusText = (families: readonly Family[]): string => families.map(familyText).join("");

function familyText({ spec, series }: Family): string {
  const name = familyName(spec);
  const head = [
    `# HELP ${name} ${escapedHelp(spec.description)}`,
    `# TYPE ${name} ${spec.kind === "up_down_counter" ? "gauge" : spec.kind}`,
  ];
  const lines = series.flatMap((one) =>
    spec.kind === "histogram" ? histogramLines(name, spec, one) : [line(name, one.labels, one.value)],
  );
  return `${[...head, ...lines].join("\n")}\n`;
}

/** With its unit, and as a counter with the ending that counters have. */
function familyName({ name, unit, kind }: MetricSpec): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_:]/g, "_");
  return `${plain}${unit === "s" ? "_seconds" : ""}${kind === "counter" ? "_total" : ""}`;
}

/** Every bucket holds those before it; the last one holds all. */
function histogramLines(name: string, { buckets = [] }: MetricSpec, series: Series): readonly string[] {
  const { labels, counts, value } = series;
  let total = 0;
  const lines = [...buckets, Number.POSITIVE_INFINITY].map((end, index) => {
    total += counts[index] ?? 0;
    return line(`${name}_bucket`, { ...labels, le: numberText(end) }, total);
  });
  return [...lines, line(`${name}_sum`, labels, value), line(`${name}_count`, labels, total)];
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${labelName(key)}="${escapedLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${numberText(value)}`;
}

function labelName(key: string): string {
  const plain = key.replaceAll(/[^a-zA-Z0-9_]/g, "_");
  return /^\d/.test(plain) ? `_${plain}` : plain;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

const escapedHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

const escapedLabel = (text: string): string => escapedHelp(text).replaceAll('"', '\\"');
