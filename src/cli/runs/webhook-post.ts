// How webhooks leave: through the guard that keeps requests of others' choice away from private addresses.

import { guardedRequest } from "../../adapter/net/guarded-request.ts";
import { readException } from "../../adapter/net/net-rules.ts";
import { Fault } from "../../engine/ports.ts";
import type { Post, Posted } from "../../server/webhook/webhook-sender.ts";
import { usageError } from "../exit.ts";

export function webhookPost(allowPrivate: readonly string[]): Post {
  for (const entry of allowPrivate)
    if (readException(entry) === undefined)
      throw usageError(`\`${entry}\` is not a host with its port (write \`127.0.0.1:8080\`)`);
  return async ({ url, headers, body, timeoutMs, signal }): Promise<Posted> => {
    try {
      const request = { url, method: "POST", headers, body, rules: { allowPrivate }, timeoutMs, signal };
      // A webhook that leads elsewhere has not arrived.
      const response = await guardedRequest({ ...request, stays: true, idleMs: timeoutMs });
      if (!response.ok) return { kind: "refused", why: response.message };
      response.body.destroy();
      const retryAfterMs = waitOf(response.headers["retry-after"]);
      return { kind: "answered", status: response.status, ...(retryAfterMs > 0 && { retryAfterMs }) };
    } catch (error) {
      if (error instanceof Fault) return { kind: "failed", why: error.message };
      throw error;
    }
  };
}

/** Nobody is put off for longer; the schedule has no longer pause either. */
const WAIT_MS_MAX = 24 * 3_600_000;

/** Seconds, or a date. */
function waitOf(header: string | undefined): number {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(0, ms), WAIT_MS_MAX);
}
