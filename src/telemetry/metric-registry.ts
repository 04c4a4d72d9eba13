// What was measured, once for both ways out: summed up here for whoever scrapes, and handed to
// OpenTelemetry's instruments, which do nothing while no provider is registered.

import { type Attributes, createNoopMeter, type MeterProvider, metrics } from "@opentelemetry/api";
import { METRICS, type MetricSpec } from "./metric-list.ts";
import { SCOPE } from "./names.ts";

export type Labels = Readonly<Record<string, string>>;

export interface Series {
  readonly labels: Labels;
  /** Of a counter; of a histogram the sum. */
  readonly value: number;
  /** Of a histogram: measurements in each bucket, and beyond the last one. */
  readonly counts: readonly number[];
}

export interface Family {
  readonly spec: MetricSpec;
  readonly series: readonly Series[];
}

/** Beyond these, measurements with new labels are summed up under one. */
const SERIES_MAX = 2_000;
const NONE: Labels = {};
const OVERFLOW: Labels = { "otel.metric.overflow": "true" };

interface Sum {
  readonly labels: Labels;
  value: number;
  readonly counts: number[];
}

interface Kept {
  readonly spec: MetricSpec;
  readonly sums: Map<string, Sum>;
  /** The same by labels that were given before: most are, and to spell them out costs more than to add. */
  readonly known: WeakMap<Labels, Sum>;
}

type Recorder = (value: number, attributes: Attributes) => void;

export class MetricRegistry {
  readonly #kept = new Map<string, Kept>();
  /** Of the provider that is registered at this moment; a later one is noticed. */
  #provider: MeterProvider | undefined;
  #isHeard = false;
  readonly #instruments = new Map<string, Recorder>();

  constructor() {
    for (const spec of Object.values(METRICS))
      this.#kept.set(spec.name, { spec, sums: new Map(), known: new WeakMap() });
  }

  /** Adds to a counter, or takes a measurement. Labels that are kept for the next time are found sooner. */
  add(spec: MetricSpec, value: number, labels: Labels = NONE): void {
    const kept = this.#kept.get(spec.name);
    if (kept === undefined || !Number.isFinite(value)) return;
    let sum = kept.known.get(labels);
    if (sum === undefined) {
      sum = sumFor(kept, labels);
      kept.known.set(labels, sum);
    }
    sum.value += value;
    if (spec.buckets !== undefined) {
      const bucket = spec.buckets.findIndex((end) => value <= end);
      const index = bucket === -1 ? spec.buckets.length : bucket;
      sum.counts[index] = (sum.counts[index] ?? 0) + 1;
    }
    this.#instrument(spec)?.(value, { ...labels });
  }

  families(): readonly Family[] {
    return [...this.#kept.values()].map(({ spec, sums }) => ({ spec, series: [...sums.values()] }));
  }

  /** Undefined where nobody listens. */
  #instrument(spec: MetricSpec): Recorder | undefined {
    const provider = metrics.getMeterProvider();
    if (provider !== this.#provider) {
      this.#instruments.clear();
      this.#isHeard = provider.getMeter(SCOPE) !== createNoopMeter();
      this.#provider = provider;
    }
    if (!this.#isHeard) return undefined;
    let instrument = this.#instruments.get(spec.name);
    if (instrument === undefined) {
      instrument = instrumentFor(provider, spec);
      this.#instruments.set(spec.name, instrument);
    }
    return instrument;
  }
}

function sumFor({ spec, sums }: Omit<Kept, "known">, labels: Labels): Sum {
  const key = JSON.stringify(labels);
  const known = sums.get(key);
  if (known !== undefined) return known;
  if (sums.size >= SERIES_MAX && labels !== OVERFLOW) return sumFor({ spec, sums }, OVERFLOW);
  const counts = spec.buckets === undefined ? [] : Array.from({ length: spec.buckets.length + 1 }, () => 0);
  const sum: Sum = { labels, value: 0, counts };
  sums.set(key, sum);
  return sum;
}

function instrumentFor(
  provider: MeterProvider,
  { name, kind, unit, description, buckets }: MetricSpec,
): Recorder {
  const meter = provider.getMeter(SCOPE);
  const options = { unit, description };
  switch (kind) {
    case "counter": {
      const counter = meter.createCounter(name, options);
      return (value, attributes) => counter.add(value, attributes);
    }
    case "up_down_counter": {
      const counter = meter.createUpDownCounter(name, options);
      return (value, attributes) => counter.add(value, attributes);
    }
    case "histogram": {
      const advice = { explicitBucketBoundaries: [...(buckets ?? [])] };
      const histogram = meter.createHistogram(name, { ...options, advice });
      return (value, attributes) => histogram.record(value, attributes);
    }
  }
}
