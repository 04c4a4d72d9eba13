// S47: faults of the way there are tried again with growing pauses, then become an error outcome. Where an
// unsafe call may have been carried out, that is all that can be said (S46).

import type { Outcome } from "../core/facts.ts";
import { backoffMs, type RetryPolicy } from "./backoff.ts";
import { type CallWatch, watched } from "./observer.ts";
import { type CallTrace, type Clock, Fault } from "./ports.ts";

export interface AttemptTerms<R extends "safe" | "unsafe"> {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly retry: RetryPolicy;
  readonly repeats: R;
  /** Whether a call may leave now; given up when not. Absent: it may. */
  readonly leaves?: (() => Promise<boolean>) | undefined;
  /** Who watches an attempt. */
  readonly watch?: (attempt: number) => CallWatch | undefined;
}

/** What is told of one attempt to whoever makes it. */
export interface Attempt {
  readonly attempt: number;
  readonly trace?: CallTrace;
}

type Failed = Extract<Outcome, { readonly ok: false }>;

/** Undefined when the call was given up. */
export async function attempts<T, R extends "safe" | "unsafe">(
  { signal, clock, retry, repeats, watch, leaves }: AttemptTerms<R>,
  call: (attempt: Attempt) => Promise<T>,
): Promise<T | Failed | (R extends "unsafe" ? "unknown" : never) | undefined> {
  for (let attempt = 1; ; attempt++) {
    if (leaves !== undefined && !(await leaves())) return undefined;
    if (signal.aborted) return undefined;
    try {
      const seen = watch?.(attempt);
      const outcome = await (seen === undefined
        ? call({ attempt })
        : watched(seen, { clock, signal }, (trace) => call({ attempt, trace })));
      return signal.aborted ? undefined : outcome;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof Fault)) return { ok: false, code: "tool_error", message: messageOf(error) };
      if (error.retry === "unknown" && repeats === "unsafe") return "unknown" as never;
      if (error.retry === "never" || attempt >= retry.attempts)
        return { ok: false, code: error.code, message: error.message };
      await clock.sleep(backoffMs(retry, attempt, error.afterMs), signal);
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
