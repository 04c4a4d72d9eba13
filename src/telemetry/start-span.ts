// Spans, begun only where somebody has registered a provider. Else there is what the context has already: a
// trace that is handed on as it came, or none.

import {
  type Context,
  INVALID_SPAN_CONTEXT,
  ProxyTracerProvider,
  type Span,
  type SpanOptions,
  trace,
} from "@opentelemetry/api";
import { SCOPE } from "./names.ts";
import { timeOf } from "./trace-headers.ts";

export interface OpenSpan {
  readonly span: Span;
  readonly context: Context;
}

export interface SpanStart extends SpanOptions {
  readonly name: string;
}

/** What a span says is gathered by `start`, because without a provider that costs more than all the rest. */
export function startSpan(parent: Context, at: number, start: () => SpanStart): OpenSpan {
  if (!isWatched()) {
    const span = trace.wrapSpanContext(trace.getSpanContext(parent) ?? INVALID_SPAN_CONTEXT);
    return { span, context: parent };
  }
  const { name, ...options } = start();
  const span = trace.getTracer(SCOPE).startSpan(name, { ...options, startTime: timeOf(at) }, parent);
  return { span, context: trace.setSpan(parent, span) };
}

const nobody = new ProxyTracerProvider().getDelegate();

function isWatched(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== nobody;
}
