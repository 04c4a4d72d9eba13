// When a provider wants to be asked again.

export interface RetryHint {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Milliseconds from `now`; undefined when the provider said nothing. */
export function retryAfterMs({ headers, body }: RetryHint, now: number): number | undefined {
  const ms = numberOf(headers["retry-after-ms"]);
  if (ms !== undefined) return ms;
  const after = headers["retry-after"];
  const seconds = numberOf(after);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const at = after === undefined ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(at)) return Math.max(0, at - now);
  // Google says it in the body only.
  const delay = numberOf(/"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body)?.[1]);
  return delay === undefined ? undefined : Math.ceil(delay * 1000);
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}
