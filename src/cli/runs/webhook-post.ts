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
      const response = await guardedRequest(request);
      if (!response.ok) return { kind: "refused", why: response.message };
      response.body.destroy();
      // A webhook that leads elsewhere has not arrived.
      if (response.url !== new URL(url).href) return { kind: "failed", why: "it redirects" };
      const seconds = Number(response.headers["retry-after"]);
      const wait = Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1000 } : {};
      return { kind: "answered", status: response.status, ...wait };
    } catch (error) {
      if (error instanceof Fault) return { kind: "failed", why: error.message };
      throw error;
    }
  };
}
