// Statuses that say "ask again": too many requests, and trouble on the server's side (S47).

import type { IncomingHttpHeaders } from "node:http";
import { Fault } from "../../engine/ports.ts";

/** Longer than this no server keeps a run waiting. */
const AFTER_MS_MAX = 3_600_000;

/** Undefined when the status is an answer. */
export function faultOfStatus(
  { status, headers, host }: { status: number; headers: IncomingHttpHeaders; host: string },
  now: number,
): Fault | undefined {
  if (status !== 408 && status !== 425 && status !== 429 && status < 500) return undefined;
  const retry = retryOf(status);
  const afterMs = retryAfterMs(headers["retry-after"], now);
  const code = status === 429 ? "rate_limited" : "server_error";
  return new Fault(code, `\`${host}\` answered with status ${status}`, {
    retry,
    ...(afterMs !== undefined && { afterMs }),
  });
}

/** What a server turned away it has not done; what it failed at it may have done. */
function retryOf(status: number): Fault["retry"] {
  // What a server cannot do at all it will not do later.
  if (status === 501 || status === 505) return "never";
  return status === 425 || status === 429 || status === 503 ? "later" : "unknown";
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\s*\d{1,9}\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), AFTER_MS_MAX);
}
