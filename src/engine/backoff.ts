// Pauses between attempts at a call.

export interface RetryPolicy {
  /** Attempts in all, the first one included. */
  readonly attempts: number;
  readonly firstMs: number;
  readonly mostMs: number;
}

export const defaultRetry: RetryPolicy = { attempts: 5, firstMs: 500, mostMs: 30_000 };

/** Doubles from attempt to attempt. What the other side asked for wins, within the most. */
export function backoffMs(policy: RetryPolicy, attempt: number, askedMs: number | undefined): number {
  const grown = policy.firstMs * 2 ** (attempt - 1);
  return Math.min(policy.mostMs, askedMs ?? grown);
}
