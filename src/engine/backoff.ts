// Pauses between attempts at a call.

export interface RetryPolicy {
  /** Attempts in all, the first one included. */
  readonly attempts: number;
  readonly firstMs: number;
  readonly mostMs: number;
}

export const defaultRetry: RetryPolicy = { attempts: 5, firstMs: 500, mostMs: 30_000 };

/** The longest pause another side may ask for. */
const ASKED_MOST_MS = 600_000;

/** Doubles from attempt to attempt, up to the most. What the other side asked for wins, within reason. */
export function backoffMs(policy: RetryPolicy, attempt: number, askedMs: number | undefined): number {
  if (askedMs !== undefined) return Math.min(ASKED_MOST_MS, askedMs);
  return Math.min(policy.mostMs, policy.firstMs * 2 ** (attempt - 1));
}
