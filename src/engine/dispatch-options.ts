// What a dispatcher works with: the door, the store, and the world as each run sees it.

import type { Run } from "../core/run.ts";
import type { RetryPolicy } from "./backoff.ts";
import type { Door } from "./door.ts";
import type { EngineObserver } from "./observer.ts";
import type { Clock, Delta, ModelPort, SharedRuns, Store, ToolPort } from "./ports.ts";
import type { Redaction } from "./redaction.ts";
import type { Slots } from "./slots.ts";

/** The world as one run sees it. */
export interface RunPorts {
  readonly model: ModelPort;
  readonly tools: ToolPort;
}

export interface DispatchOptions {
  readonly door: Door;
  readonly store: Store;
  readonly clock: Clock;
  readonly portsOf: (id: string, run: Run) => Promise<RunPorts>;
  readonly retry: RetryPolicy;
  /** How deep agents may call each other. */
  readonly depth?: number;
  /** Only what runs owe each other is done, and what ended runs owe the world. */
  readonly idle?: boolean;
  /** Streamed text of a model's answer, as it comes. */
  readonly onDelta?: (delta: Delta) => void;
  /** What must not be shown. */
  readonly redaction?: Redaction | undefined;
  readonly observer?: EngineObserver | undefined;
  /** Where several processes drive runs: which are ours. */
  readonly shared?: SharedRuns | undefined;
  /** How many asks of a kind are performed at the same time; no limit for kinds that are not named. */
  readonly slots?: Slots | undefined;
  /** Something that no adapter may throw went wrong while performing a step. */
  readonly failed: (id: string, error: unknown) => void;
}
