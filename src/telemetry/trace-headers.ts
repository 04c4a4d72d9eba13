// Between the headers of W3C Trace Context and the contexts of OpenTelemetry.

import {
  type Context,
  createTraceState,
  type HrTime,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import type { TraceHeaders } from "../engine/ports.ts";
import { readTrace } from "../engine/trace-context.ts";

/** Undefined for the context of nobody. */
export function headersOf(context: SpanContext | undefined, baggage?: string): TraceHeaders | undefined {
  if (context === undefined || !isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const flags = (traceFlags & 0xff).toString(16).padStart(2, "0");
  const tracestate = traceState?.serialize() ?? "";
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(tracestate !== "" && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}

/** Undefined when the headers cannot be read: they may come from a journal of elsewhere. */
export function spanContextOf(headers: TraceHeaders): SpanContext | undefined {
  const read = readTrace({ traceparent: headers.traceparent, tracestate: headers.tracestate });
  if (read === undefined) return undefined;
  const [, traceId = "", spanId = "", flags = ""] = read.traceparent.split("-");
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const { tracestate } = read;
  const traceState = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return { traceId, spanId, traceFlags, isRemote: true, ...traceState };
}

/** Where spans below that context begin. */
export const contextBelow = (parent: SpanContext | undefined): Context =>
  parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);

/** Of what a caller sends along, only what is listed goes on: the rest is not ours to spread. */
export function listedBaggage(baggage: string | undefined, keys: readonly string[]): string | undefined {
  const members = (baggage ?? "").split(",").map((member) => member.trim());
  const kept = members.filter((member) => keys.includes(member.split("=", 1)[0]?.trim() ?? ""));
  return kept.length === 0 ? undefined : kept.join(",");
}

/** Numbers alone would be taken for times since the process began where they are small. */
export const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
