// What the outside may say to a run, and what it may hear back. Every input enters through `decide`.

import type { Json, JsonObject } from "../base/json.ts";
import type { Fact, HostTools, Limits, Mode, Outcome, Parent, Spent, Status } from "./facts.ts";
import type { Run } from "./run.ts";

/** Who made a fork's edits, in the facts that name somebody. */
export const FORK = "fork";

/** What a caller sends again under the same key, because it heard no answer, is taken once. */
interface Keyed {
  readonly requestKey?: string;
}

export type Input = Keyed & Said;

type Said =
  | StartInput
  | AnswerInput
  | EventInput
  | MessageInput
  | ApproveInput
  | RejectInput
  /** From the dispatcher: a call that may not be repeated unasked leaves now. */
  | { readonly type: "sent"; readonly at: number; readonly step: number }
  | HoldInput
  /** From the dispatcher: what a call waited for goes on; for agents, whose end is the answer. */
  | { readonly type: "resume"; readonly at: number; readonly step: number }
  /** Ways out of in-doubt (S46); supplying the result is an ordinary answer. */
  | { readonly type: "retry"; readonly at: number; readonly step: number; readonly by: string }
  | { readonly type: "abort"; readonly at: number; readonly step: number; readonly by: string }
  | { readonly type: "cancel"; readonly at: number; readonly by: string; readonly reason: string }
  | PauseInput
  | UnpauseInput
  /** From a shell whose contract ends a run for what the core only refuses (S49). */
  | {
      readonly type: "fail";
      readonly at: number;
      readonly by: string;
      readonly code: string;
      readonly message: string;
    };

/** Nothing new of the run leaves until it is let go; what is out may come back. */
export interface PauseInput {
  readonly type: "pause";
  readonly at: number;
  readonly by: string;
  readonly reason?: string;
}

export interface UnpauseInput {
  readonly type: "unpause";
  readonly at: number;
  readonly by: string;
}

export interface StartInput {
  readonly type: "start";
  readonly at: number;
  readonly digest: string;
  readonly mode: Mode;
  /** A state to begin at instead of the workflow's entry, for agents. */
  readonly state?: string;
  /** The prompt of a pack without a workflow. */
  readonly prompt?: string;
  readonly variables: JsonObject;
  readonly input: string;
  /** Tighter than the pack's; a looser one is refused. */
  readonly limits?: Partial<Limits>;
  readonly parent?: Parent;
  /** Given up before it began: the name is taken, so that nobody starts it late, and nothing is done. */
  readonly cancelled?: { readonly by: string; readonly reason: string };
  /** Tools whose calls must be approved, beyond what the pack's governance demands. */
  readonly gated?: readonly string[];
  readonly host?: HostTools;
}

export interface AnswerInput {
  readonly type: "answer";
  readonly at: number;
  readonly step: number;
  readonly outcome: Outcome;
  /** The tool the sender thinks it answers; checked when given (S49). */
  readonly tool?: string;
  readonly hash?: string;
  readonly by?: string;
  /** From an agent's run: what it came to. */
  readonly spent?: Spent;
}

/** From the dispatcher: a call's outcome is unknown, or will come later. */
export interface HoldInput {
  readonly type: "hold";
  readonly at: number;
  readonly step: number;
  readonly hold: "in_doubt" | "deferred";
  /** With `deferred`: call the tool again then. */
  readonly until?: number;
  readonly handle?: Json;
  readonly question?: Json;
  readonly looks?: true;
  readonly stoppable?: true;
}

export interface EventInput {
  readonly type: "event";
  readonly at: number;
  readonly name: string;
  readonly by: string;
  readonly context?: string;
  readonly artifacts?: JsonObject;
  readonly dedupeKey?: string;
}

export interface MessageInput {
  readonly type: "message";
  readonly at: number;
  readonly text: string;
  readonly by: string;
  /** Said again with the same key, it is taken once. */
  readonly dedupeKey?: string;
}

export interface ApproveInput {
  readonly type: "approve";
  readonly at: number;
  readonly step: number;
  readonly by: string;
  /** Pins what the person read. */
  readonly sha256?: string;
  /** Other arguments: a new request, which must be approved again (S31). */
  readonly edit?: Json;
  /** Kept beside the decision; no rule looks at it. */
  readonly comment?: string;
}

interface RejectInput {
  readonly type: "reject";
  readonly at: number;
  readonly step: number;
  readonly by: string;
  readonly reason: string;
  /** Pins what the person read. */
  readonly sha256?: string;
}

export type Decision =
  | { readonly kind: "facts"; readonly facts: readonly Fact[]; readonly run: Run }
  /** Success to the sender; nothing changes (S50). */
  | { readonly kind: "ignored"; readonly why: string }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export type Refusal =
  | { readonly code: "unknown-run"; readonly run: string }
  | { readonly code: "run-finished"; readonly status: Status }
  /** The sender spoke to another turn than the run's last one. */
  | { readonly code: "precondition-failed"; readonly expected: number; readonly turn: number }
  | { readonly code: "event-not-allowed"; readonly event: string; readonly allowed: readonly string[] }
  | { readonly code: "not-waiting"; readonly state: string; readonly allowed: readonly string[] }
  | { readonly code: "step-mismatch"; readonly step: number; readonly last: number }
  | { readonly code: "step-not-open"; readonly step: number; readonly open: readonly number[] }
  | {
      readonly code: "pending-tool-mismatch";
      readonly step: number;
      readonly tool: string;
      readonly pending: string;
    }
  | { readonly code: "hash-mismatch"; readonly step: number; readonly sha256: string }
  | { readonly code: "bad-arguments"; readonly step: number; readonly message: string }
  | { readonly code: "bad-artifact"; readonly artifact: string; readonly message: string }
  | { readonly code: "bad-variables"; readonly problems: readonly string[] }
  | { readonly code: "bad-limit"; readonly limit: string; readonly value: number; readonly pack: number }
  | { readonly code: "unknown-state"; readonly state: string; readonly known: readonly string[] }
  | { readonly code: "unknown-prompt"; readonly prompt: string; readonly known: readonly string[] }
  | { readonly code: "unknown-agent"; readonly agent: string; readonly known: readonly string[] }
  | { readonly code: "unsupported"; readonly what: string };
