// W3C Trace Context at the edge: what a request says of the trace it belongs to, and the way from there to
// the engine, through whatever protocol lies between them.

import { AsyncLocalStorage } from "node:async_hooks";
import type { TraceHeaders } from "./ports.ts";

/** The trace of the request that is being answered. */
export const incomingTrace = new AsyncLocalStorage<TraceHeaders | undefined>();

/** Headers as they come; none of them is to be trusted. */
export interface GivenTrace {
  readonly traceparent: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

const BAGGAGE_MAX = 8_192;

/** Undefined when there is none, or one that cannot be read: then a new trace begins. */
export function readTrace({ traceparent, tracestate, baggage }: GivenTrace): TraceHeaders | undefined {
  const parent = traceparent?.trim();
  if (parent === undefined || !isTraceparent(parent)) return undefined;
  const state = tracestate === undefined ? undefined : readTracestate(tracestate);
  const goods = baggage?.trim();
  return {
    traceparent: parent,
    ...(state !== undefined && { tracestate: state }),
    ...(goods !== undefined && goods !== "" && goods.length <= BAGGAGE_MAX && { baggage: goods }),
  };
}

/** A later version may have more at its end; ours may not. Ids of zeros are none. */
function isTraceparent(text: string): boolean {
  const match = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(text);
  const [, version, trace = "", span = "", , rest] = match ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return false;
  return !/^0+$/.test(trace) && !/^0+$/.test(span);
}

const STATE_MEMBERS_MAX = 32;
const STATE_LENGTH_MAX = 512;
const STATE_MEMBER =
  /^[a-z\d][a-z\d_\-*/]{0,240}(@[a-z][a-z\d_\-*/]{0,13})?=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/;

/** All of it or nothing: a part of what vendors wrote means something else. */
function readTracestate(text: string): string | undefined {
  const members = text.split(",").flatMap((member) => (member.trim() === "" ? [] : [member.trim()]));
  const keys = new Set(members.map((member) => member.split("=", 1)[0]));
  const isSound =
    members.length > 0 &&
    members.length <= STATE_MEMBERS_MAX &&
    keys.size === members.length &&
    members.every((member) => STATE_MEMBER.test(member));
  const state = members.join(",");
  return isSound && state.length <= STATE_LENGTH_MAX ? state : undefined;
}
