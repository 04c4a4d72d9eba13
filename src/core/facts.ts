// What happened. A run's journal is a list of turns, each the facts one input produced; nothing else is
// stored about a run's logic. Facts say what was decided, with the numbers it was decided by, so that `apply`
// never compares with a limit or looks into a program, and old journals read correctly under new rules.

import type { Json, JsonObject } from "../base/json.ts";

/** Version of the fact shapes below; `upcast` lifts older rows. */
export const FACTS_VERSION = 1;

export interface TurnRow {
  readonly turn: number;
  /** Milliseconds since 1970; never before the turn ahead of it. */
  readonly at: number;
  readonly v: number;
  readonly facts: readonly Fact[];
}

export type Fact =
  | Started
  | Forked
  | Entered
  | { readonly type: "asked"; readonly step: number; readonly ask: Ask }
  | Answered
  | Wrote
  | Noted
  | Finished;

export interface Started {
  readonly type: "started";
  readonly digest: string;
  readonly mode: Mode;
  /** Null for a pack without a workflow, which runs `prompt` once. */
  readonly state: string | null;
  readonly prompt: string;
  readonly variables: JsonObject;
  readonly input: string;
  readonly limits: Limits;
  readonly parent: Parent | null;
  readonly wallClock: "total" | "active";
  /** Tools whose calls wait for a person (S31). */
  readonly gated: readonly string[];
  /** What a model is told about tools that the pack lists and does not define, pinned for the whole run. */
  readonly host?: HostTools;
}

export type HostTools = Readonly<Record<string, HostTool>>;

export interface HostTool {
  readonly description: string;
  readonly parameters: JsonObject;
}

/** The fork's clock goes on from where the copied prefix stopped. */
export interface Forked {
  readonly type: "forked";
  readonly from: { readonly run: string; readonly turn: number };
  readonly digest: string;
  readonly resetBudget: boolean;
  readonly variables: JsonObject;
  /** What another pack brings with it; absent when the fork keeps its pack. */
  readonly pack?: {
    readonly limits: Limits;
    readonly wallClock: "total" | "active";
    readonly gated: readonly string[];
  };
}

export interface Entered {
  readonly type: "entered";
  readonly state: string;
  readonly visit: number;
  readonly prompt: string;
  readonly cause: Cause;
  /** The conversation starts anew (a transient state). */
  readonly fresh: boolean;
  readonly context: string;
}

export type Cause =
  | { readonly kind: "entry" }
  | {
      readonly kind: "event";
      readonly from: string;
      readonly event: string;
      /** Exhausted states that were aimed at before, in order. */
      readonly hops?: readonly string[];
      /** Who sent it; absent when the model or a composition did. */
      readonly by?: string;
    };

export interface Answered {
  readonly type: "answered";
  readonly step: number;
  readonly outcome: Outcome;
  /** Hash of the request a model was sent. */
  readonly hash?: string;
  /** Who answered, when it was a person. */
  readonly by?: string;
  /** What somebody who approved said with it. */
  readonly comment?: string;
  /** With the answer of an agent, or when it was stopped: what its run, and those under it, came to. */
  readonly spent?: Spent;
}

export interface Spent {
  readonly visits: number;
  readonly toolCalls: number;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** What an agent may spend of what its caller has left, as far as the caller has limits. */
export type Grant = Partial<Pick<Spent, "modelCalls" | "inputTokens" | "outputTokens" | "costUsd">>;

export type Outcome =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly code: string; readonly message: string };

export interface Wrote {
  readonly type: "wrote";
  readonly artifact: string;
  readonly mode: "replace" | "append";
  readonly json: boolean;
  readonly value: Json;
  readonly source: WriteSource;
  /** An `append` artifact begins anew with this value. */
  readonly fresh?: true;
}

export type WriteSource =
  | { readonly kind: "model"; readonly step: number }
  | { readonly kind: "tool"; readonly step: number; readonly tool: string }
  | { readonly kind: "outside"; readonly by: string }
  | { readonly kind: "fork" };

export type Noted =
  /** The core's own answer to a call of a reserved tool, or to one it may not dispatch. */
  | {
      readonly type: "noted";
      readonly what: "result";
      readonly call: string;
      readonly result: Json;
      readonly error: boolean;
      readonly part?: string;
    }
  /** A transition that takes effect when the other calls of its response are answered (S18). */
  | { readonly type: "noted"; readonly what: "scheduled"; readonly event: string; readonly context: string }
  | { readonly type: "noted"; readonly what: "message"; readonly text: string; readonly by: string }
  | { readonly type: "noted"; readonly what: "nudge"; readonly text: string }
  | { readonly type: "noted"; readonly what: "handoff"; readonly text: string }
  /**
   * A call that must not be repeated unasked is about to leave: from here on its end may be unknown (S46).
   */
  | { readonly type: "noted"; readonly what: "sent"; readonly step: number }
  /** The outcome of a call is unknown after a crash; retried clears it, and `deferred` too. */
  | {
      readonly type: "noted";
      readonly what: "in_doubt" | "retried";
      readonly step: number;
      readonly by?: string;
    }
  | Deferred
  /** A deferred call goes on: its time has come, or `input` holds what it asked a person for. */
  | {
      readonly type: "noted";
      readonly what: "resumed";
      readonly step: number;
      readonly input?: Json;
      readonly by?: string;
    }
  /** Somebody holds the run: nothing of it leaves until it is let go. */
  | { readonly type: "noted"; readonly what: "held"; readonly by: string; readonly reason?: string }
  | { readonly type: "noted"; readonly what: "unheld"; readonly by: string }
  /**
   * A model is asked once agents have brought back what they did not use: it does not fit beside what was
   * granted to them.
   */
  | { readonly type: "noted"; readonly what: "stalled"; readonly tools: boolean; readonly part?: string }
  | { readonly type: "noted"; readonly what: "dedupe"; readonly key: string }
  | Traced
  /** A validator fired: `text` is what is left of what the model said, or takes the place of its answer. */
  | {
      readonly type: "noted";
      readonly what: "guarded";
      readonly direction: "input" | "output";
      /** Its id, or its type when it has none. */
      readonly validator: string;
      readonly action: "blocked" | "shortened";
      readonly text: string;
      readonly part?: string;
    }
  /** The composition of a state begins, with what `${input}` means in it (S29). */
  | { readonly type: "noted"; readonly what: "composing"; readonly composition: string; readonly input: Json }
  | PartNoted
  /** The composition is over, and this is the visit's output. */
  | { readonly type: "noted"; readonly what: "composed"; readonly output: Json }
  /** A tool's result could not be kept as the artifact it is bound to. */
  | {
      readonly type: "noted";
      readonly what: "unwritten";
      readonly artifact: string;
      readonly message: string;
    };

/** How a part of a composition fares; a part is a step of the pack's composition, by its id. */
export type PartNoted = { readonly type: "noted"; readonly what: "part"; readonly part: string } & (
  | {
      readonly is: "begun";
      /** From 1. */
      readonly attempt: number;
      /** For parts that ask a model: the prompt, and what the model is told. */
      readonly prompt?: string;
      readonly input?: Json;
      /** The conversation of the attempt before goes on: what was wrong with its answer. */
      readonly mends?: string;
    }
  /** Without `output`: it is what the part's last answer said. */
  | { readonly is: "done"; readonly output?: Json }
  | { readonly is: "failed"; readonly code: string; readonly message: string }
  | { readonly is: "skipped" }
);

/** Where whoever watches finds the turns from this one on. No rule looks at it. */
export interface Traced extends RunTrace {
  readonly type: "noted";
  readonly what: "traced";
}

/** As W3C Trace Context writes it. */
export interface RunTrace {
  readonly traceparent: string;
  readonly tracestate?: string;
  readonly baggage?: string;
  /** The trace that the run was started in by somebody else. */
  readonly origin?: string;
  /** From 1: stretches from a start, or from being taken up, to a wait, an end or a stop. */
  readonly segment: number;
}

/** A call that is not over: its answer comes from outside, or it is to be called again. */
export interface Deferred {
  readonly type: "noted";
  readonly what: "deferred";
  readonly step: number;
  /** What the tool needs to go on where it stopped; shown to nobody. */
  readonly handle?: Json;
  /** What a person is asked; the answer is the call's input, not its result. */
  readonly question?: Json;
  /** A timer beside it calls the tool again. */
  readonly wakes?: true;
  /** The next call only asks how it stands. */
  readonly looks?: true;
  /** Work goes on elsewhere, which the tool ends when nobody waits for it any more. */
  readonly stoppable?: true;
}

export interface Finished {
  readonly type: "finished";
  readonly status: FinalStatus;
  readonly reason: Reason | null;
  readonly text: string;
  /** What ended the run, where no other fact of the turn says it. */
  readonly cause?: EndCause;
}

export type EndCause =
  /** A transition that was not made because its target, or the run, had no visit left. */
  | Cause
  | { readonly kind: "cancel" | "fail"; readonly by: string }
  | { readonly kind: "abort"; readonly step: number; readonly by: string };

export type Mode = "autonomous" | "conversational";
export type FinalStatus = "completed" | "budget_exhausted" | "failed" | "cancelled";
export type Status = "running" | "waiting" | FinalStatus;

export interface Reason {
  readonly code: string;
  readonly limit?: string;
  readonly value?: number;
  readonly state?: string;
  readonly message?: string;
}

export interface Parent {
  readonly run: string;
  readonly step: number;
}

/** Null: no limit. */
export interface Limits {
  readonly visits: number | null;
  readonly toolCalls: number | null;
  readonly wallMs: number | null;
  readonly modelCalls: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
}

/** What the run wants from outside. It stays open until answered; nothing else says what must happen next. */
export type Ask =
  | ModelAsk
  | CallAsk
  | ApprovalAsk
  | { readonly kind: "event"; readonly allow: readonly string[] }
  | { readonly kind: "message" }
  /** Without `wakes` the run's own time, else when the deferred call of that step is made again. */
  | { readonly kind: "timer"; readonly due: number; readonly wakes?: number }
  | { readonly kind: "reply"; readonly to: Parent; readonly outcome: Outcome }
  /** The work of step `child` is given up: a run of an agent, or with `remote` what a tool has elsewhere. */
  | {
      readonly kind: "stop";
      readonly child: string;
      readonly remote?: RemoteWork;
      /** What the agent may have spent before it hears of it; while the run goes on, that is not free. */
      readonly grant?: Grant;
    };

export interface RemoteWork {
  readonly tool: string;
  /** What the tool left when it deferred the call. */
  readonly handle: Json;
}

export interface ModelAsk {
  readonly kind: "model";
  /** Model calls in this visit, this one included. */
  readonly round: number;
  /** Model calls in this state over the whole run before this one. */
  readonly nth: number;
  /** Pack tools are offered; false for the concluding call, which has only the reserved ones (S16). */
  readonly tools: boolean;
  /** The part of a composition that asks: rounds and calls are counted for it alone. */
  readonly part?: string;
}

export interface CallAsk {
  readonly kind: "tool" | "agent";
  /** The model's name for the call, to which its result belongs. */
  readonly call: string;
  readonly tool: string;
  readonly args: Json;
  /** Calls of this tool over the whole run before this one. */
  readonly nth: number;
  readonly part?: string;
  /** For agents of a caller with limits on spending. */
  readonly grant?: Grant;
}

export interface ApprovalAsk {
  readonly kind: "approval";
  readonly call: string;
  readonly tool: string;
  readonly args: Json;
  readonly sha256: string;
  readonly part?: string;
}

/** The value of a model's good answer. */
export interface ModelReply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage;
  /** What the provider wants back with this answer in the next request; shown to nobody. */
  readonly extra?: Json;
}

export interface ToolCall {
  readonly id: string;
  readonly tool: string;
  readonly args: Json;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  /** The provider gave no figures; these are made from the lengths of the texts. */
  readonly estimated?: true;
}
