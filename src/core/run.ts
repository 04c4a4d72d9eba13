// A run: what its facts fold to. Plain data, so it can be stored as a snapshot and sent to a browser.

import type { Json, JsonObject } from "../base/json.ts";
import { emptyLog, type Log } from "../base/log.ts";
import type {
  Ask,
  FinalStatus,
  HostTools,
  Limits,
  Mode,
  Parent,
  Reason,
  RunTrace,
  Spent,
  Status,
  ToolCall,
} from "./facts.ts";

export interface Run {
  /** Turns folded so far. */
  readonly turn: number;
  readonly now: number;
  readonly startedAt: number;
  readonly started: boolean;
  readonly final: FinalStatus | null;
  readonly reason: Reason | null;
  readonly digest: string;
  readonly mode: Mode;
  readonly variables: JsonObject;
  readonly input: string;
  readonly limits: Limits;
  readonly wallClock: "total" | "active";
  readonly gated: readonly string[];
  readonly host?: HostTools;
  readonly parent: Parent | null;
  readonly forkedFrom: { readonly run: string; readonly turn: number } | null;

  readonly state: string | null;
  readonly prompt: string;
  readonly visits: Readonly<Record<string, number>>;
  /** Model calls, nudges and counted tool calls of the present visit. */
  readonly round: number;
  readonly nudges: number;
  readonly visitCalls: number;
  readonly scheduled: { readonly event: string; readonly context: string } | null;
  /** Context of the transition that led here, `{{workflow_context}}`. */
  readonly context: string;
  readonly lastText: string;
  readonly conversation: Log<Message>;
  readonly artifacts: Readonly<Record<string, ArtifactValue>>;
  /** In a state that runs a composition: how far it is, until the state is left. */
  readonly composing?: Composing;

  readonly step: number;
  readonly open: Readonly<Record<number, OpenAsk>>;
  /** Questions to models that wait until agents bring back what they did not use; absent without any. */
  readonly stalled?: readonly Stalled[];
  readonly used: Used;
  /** What the agents it called have spent, and those that they called; absent until one has answered. */
  readonly usedByAgents?: Spent;
  /** Calls of agents over the whole run, in order; absent until there is one. */
  readonly agentCalls?: readonly CalledAgent[];
  /** How often each state asked a model, each tool was called, each state got an event from outside. */
  readonly asksByState: Readonly<Record<string, number>>;
  readonly callsByTool: Readonly<Record<string, number>>;
  readonly eventsByState: Readonly<Record<string, number>>;
  readonly lastUsage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costUsd: number;
  };
  readonly dedupe: Readonly<Record<string, true>>;
  /** Present while somebody holds the run. */
  readonly held?: HeldBy;
  readonly trace?: RunTrace;
}

export interface OpenAsk {
  readonly ask: Ask;
  /** Where a call stands that has not come back: unknown after a crash, or promised from outside. */
  readonly hold: "in_doubt" | "deferred" | null;
  /** The call may have left (S46); noted only for calls that must not be repeated unasked. */
  readonly sent?: true;
  /** What the tool said when it last deferred, and the input it has got since. */
  readonly later?: {
    readonly handle?: Json;
    readonly question?: Json;
    readonly wakes?: true;
    readonly looks?: true;
    readonly stoppable?: true;
    readonly input?: Json;
  };
}

export interface Stalled {
  readonly tools: boolean;
  /** The part of a composition that asks. */
  readonly part?: string;
}

export interface Composing {
  readonly composition: string;
  readonly input: Json;
  /** By id; parts that are not here have not been come to. */
  readonly parts: Readonly<Record<string, PartRun>>;
  /** Present when it is over. */
  readonly output?: Json;
}

export interface PartRun {
  readonly is: "running" | "done" | "failed" | "skipped";
  readonly attempt: number;
  /** Model calls and counted tool calls of this attempt. */
  readonly round: number;
  readonly calls: number;
  readonly prompt?: string;
  readonly input?: Json;
  readonly messages: readonly Message[];
  /** What its last answer said: the text of a model, the value of a tool. */
  readonly said: Json;
  readonly output?: Json;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface HeldBy {
  /** The run that called it, where it is held with its caller. */
  readonly by: string;
  readonly since: number;
  readonly reason?: string;
}

export interface CalledAgent {
  readonly step: number;
  /** As the model named it. */
  readonly agent: string;
  readonly state: string | null;
  readonly visit: number;
  /** The run that called it, where this one was forked after the answer: the child is that one's. */
  readonly by?: string;
}

export interface Used extends Spent {
  /** Time in status running, for `wall_clock: active`. */
  readonly activeMs: number;
}

export type Message =
  /** First of a visit: the task again where the conversation is new, and what led here (S24). */
  | {
      readonly role: "opening";
      readonly fresh: boolean;
      readonly cause: { readonly from: string; readonly event: string } | null;
      readonly context: string;
    }
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ToolCall[];
      readonly step: number;
      readonly extra?: Json;
    }
  | { readonly role: "result"; readonly call: string; readonly value: Json; readonly error: boolean };

/** `append` keeps its pieces apart: a long log is never copied to add a line (S34). */
export type ArtifactValue =
  | { readonly mode: "replace"; readonly value: Json }
  | { readonly mode: "append"; readonly json: boolean; readonly pieces: Log<Json> };

/** Who counts its questions to models: the state, or each part of its composition for itself. */
export function askerOf({ state, prompt }: Pick<Run, "state" | "prompt">, part: string | undefined): string {
  return part === undefined ? (state ?? prompt) : JSON.stringify([state, part]);
}

/** S13, S43: the run's own use and that of its agents, which its limits on spending hold for. */
export function treeUse({ used, usedByAgents }: Pick<Run, "used" | "usedByAgents">): Spent {
  const { activeMs: _activeMs, ...own } = used;
  return usedByAgents === undefined ? own : spentTogether(own, usedByAgents);
}

export const spentTogether = (a: Spent, b: Spent): Spent => ({
  visits: a.visits + b.visits,
  toolCalls: a.toolCalls + b.toolCalls,
  modelCalls: a.modelCalls + b.modelCalls,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  costUsd: a.costUsd + b.costUsd,
});

export const noUsage: Used = {
  visits: 0,
  toolCalls: 0,
  modelCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  activeMs: 0,
};

const noLimits: Limits = {
  visits: null,
  toolCalls: null,
  wallMs: null,
  modelCalls: null,
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
};

export const emptyRun: Run = {
  turn: 0,
  now: 0,
  startedAt: 0,
  started: false,
  final: null,
  reason: null,
  digest: "",
  mode: "autonomous",
  variables: {},
  input: "",
  limits: noLimits,
  wallClock: "total",
  gated: [],
  parent: null,
  forkedFrom: null,
  state: null,
  prompt: "",
  visits: {},
  round: 0,
  nudges: 0,
  visitCalls: 0,
  scheduled: null,
  context: "",
  lastText: "",
  conversation: emptyLog(),
  artifacts: {},
  step: 0,
  open: {},
  used: noUsage,
  asksByState: {},
  callsByTool: {},
  eventsByState: {},
  lastUsage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  dedupe: {},
};

/** Asks the runtime itself performs. Everything else waits for somebody outside, or for a time. */
const PERFORMED: ReadonlySet<Ask["kind"]> = new Set(["model", "tool", "agent"]);

/**
 * A deferred call that wakes by itself is work, too: nobody outside has to move it. With a question it waits
 * for a person, and its time is only how long.
 */
export const isPerformed = ({ ask, hold, later }: OpenAsk): boolean =>
  PERFORMED.has(ask.kind) &&
  (hold === null || (hold === "deferred" && later?.wakes === true && later.question === undefined));

/** Armed for the run's own time, not for a call that is to be made again. */
export const isWallTimer = ({ ask }: OpenAsk): boolean => ask.kind === "timer" && ask.wakes === undefined;

/** Nobody works on a run that is held. */
export const isAtWork = (run: Pick<Run, "open" | "held" | "stalled">): boolean =>
  run.held === undefined && hasOwnWork(run);

/**
 * There is something to do that the runtime does itself, once it may. To stop an agent is work only where the
 * run goes on with what it brings back.
 */
export function hasOwnWork({ open, stalled }: Pick<Run, "open" | "stalled">): boolean {
  for (const step in open) {
    const one = open[step] as OpenAsk;
    if (isPerformed(one) || (stalled !== undefined && one.ask.kind === "stop")) return true;
  }
  return false;
}

/** S1: derived from the open asks, so it cannot disagree with them. */
export const statusOf = (run: Run): Status => run.final ?? (isAtWork(run) ? "running" : "waiting");

/** The full value of an artifact (S34): pieces of text joined by newlines, pieces of JSON as one list. */
export function artifactValue(artifact: ArtifactValue): Json {
  if (artifact.mode === "replace") return artifact.value;
  const pieces = artifact.pieces.cells.slice(0, artifact.pieces.length);
  return artifact.json ? pieces : pieces.map(String).join("\n");
}
