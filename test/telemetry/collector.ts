// A collector on a free port that takes OTLP over HTTP as JSON, and remembers what it was sent.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Attributes;
  readonly links: readonly { traceId: string; spanId: string; attributes: Attributes }[];
  readonly events: readonly { name: string; attributes: Attributes }[];
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly message: string;
  readonly resource: Attributes;
}

type Attributes = Readonly<Record<string, unknown>>;

export interface ReceivedPoint {
  readonly name: string;
  readonly attributes: Attributes;
  readonly value: number;
  readonly count: number;
  readonly buckets: readonly number[];
  readonly bounds: readonly number[];
}

export const INTERNAL = 1;
export const CLIENT = 3;
export const UNSET = 0;
export const ERROR = 2;

export interface Collector extends AsyncDisposable {
  readonly url: string;
  /** Everything that was sent, as text. */
  text(): string;
  spans(run?: string): readonly ReceivedSpan[];
  /** The newest of each. */
  points(): readonly ReceivedPoint[];
  /** Resolves once what was received satisfies. */
  until(done: () => boolean): Promise<void>;
  /** All spans of a run, once so many of its segments have ended. */
  segments(run: string, count: number): Promise<readonly ReceivedSpan[]>;
  /** Requests that wait for an answer, where the collector gives none. */
  readonly held: () => number;
}

export async function startCollector({ answers = true } = {}): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const points = new Map<string, ReceivedPoint>();
  const texts: string[] = [];
  const listeners = new Set<() => void>();
  let held = 0;
  const server = createServer((request, response) => {
    void received(request, response);
  });
  const received = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    if (!answers) {
      held++;
      return;
    }
    texts.push(text);
    const body = JSON.parse(text) as never;
    if (request.url?.endsWith("/v1/traces") === true) spans.push(...spansIn(body));
    else if (request.url?.endsWith("/v1/metrics") === true)
      for (const point of pointsIn(body))
        points.set(`${point.name} ${JSON.stringify(point.attributes)}`, point);
    response.setHeader("content-type", "application/json");
    response.end("{}");
    for (const listener of listeners) listener();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const ofRun = (run: string) =>
    spans.filter(({ attributes }) => attributes["gen_ai.conversation.id"] === run);
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) {
      await new Promise<void>((resolve) => {
        const listener = () => {
          listeners.delete(listener);
          resolve();
        };
        listeners.add(listener);
      });
    }
  };
  const isSegment = ({ name }: ReceivedSpan) => name.startsWith("invoke_workflow ");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => texts.join("\n"),
    spans: (run) => (run === undefined ? spans : ofRun(run)),
    points: () => [...points.values()],
    until,
    async segments(run, count) {
      await until(() => ofRun(run).filter(isSegment).length >= count);
      return ofRun(run);
    },
    held: () => held,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}

interface Keyed {
  readonly key: string;
  readonly value: Value;
}
interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values?: readonly Value[] };
}

const attributesOf = (list: readonly Keyed[] = []): Attributes =>
  Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]));

function valueOf(value: Value): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(valueOf);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes?: readonly Keyed[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}
interface WireSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Keyed[];
  readonly links?: readonly { traceId: string; spanId: string; attributes?: readonly Keyed[] }[];
  readonly events?: readonly { name: string; attributes?: readonly Keyed[] }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

function spansIn({ resourceSpans }: Traces): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => spanOf(span, attributesOf(resource.attributes)))),
  );
}

function spanOf(span: WireSpan, resource: Attributes): ReceivedSpan {
  return {
    name: span.name,
    kind: span.kind,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? "",
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    attributes: attributesOf(span.attributes),
    links: (span.links ?? []).map((link) => ({ ...link, attributes: attributesOf(link.attributes) })),
    events: (span.events ?? []).map((event) => ({ ...event, attributes: attributesOf(event.attributes) })),
    status: span.status?.code ?? UNSET,
    message: span.status?.message ?? "",
    resource,
  };
}

interface Metrics {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly WireMetric[] }[];
  }[];
}
interface WireMetric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly WirePoint[] };
  readonly histogram?: { readonly dataPoints: readonly WirePoint[] };
}
interface WirePoint {
  readonly attributes?: readonly Keyed[];
  readonly asInt?: string | number;
  readonly asDouble?: number;
  readonly sum?: number;
  readonly count?: string | number;
  readonly bucketCounts?: readonly (string | number)[];
  readonly explicitBounds?: readonly number[];
}

function pointsIn({ resourceMetrics }: Metrics): readonly ReceivedPoint[] {
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
  return metrics.flatMap(
    ({ name, sum, histogram }) =>
      (sum ?? histogram)?.dataPoints.map((point) => ({
        name,
        attributes: attributesOf(point.attributes),
        value: Number(point.asInt ?? point.asDouble ?? point.sum ?? 0),
        count: Number(point.count ?? 0),
        buckets: (point.bucketCounts ?? []).map(Number),
        bounds: point.explicitBounds ?? [],
      })) ?? [],
  );
}
