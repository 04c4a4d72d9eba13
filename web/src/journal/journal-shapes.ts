// What is known of a run, in the pieces that cross from the worker to the page. Large values stay behind: a
// text that is cut says how long it is, and is fetched whole when somebody asks for it.

import type { Json } from "../../../src/base/json.ts";
import type { Ask } from "../../../src/core/facts.ts";
import type { Summary, SummaryUsed } from "../../../src/core/summary.ts";
import type { TraceRow } from "../../../src/core/trace.ts";
import type { Drawing } from "../../../src/pack/graph/layout.ts";

/** One visit: a row of the trace, narrow. */
export interface VisitRow {
  readonly turn: number;
  readonly from: string | null;
  readonly event: string | null;
  readonly to: string;
  readonly visit: number;
  readonly cause: TraceRow["cause"];
  readonly redirectedFrom: readonly string[];
  readonly by: string | null;
  /** Artifacts on one line each, after the transition. */
  readonly cells: Readonly<Record<string, string>>;
  readonly changed: readonly string[];
  /** As the visit begins. */
  readonly used: SummaryUsed;
  readonly at: number;
}

export interface CutText {
  readonly text: string;
  /** Characters of the whole. */
  readonly size: number;
  readonly isCut: boolean;
}

export interface TurnLine {
  readonly turn: number;
  readonly at: number;
  readonly kind: "start" | "move" | "model" | "tool" | "person" | "end" | "note";
  readonly text: string;
}

export interface StepLine {
  readonly step: number;
  readonly kind: Ask["kind"];
  readonly tool: string | null;
  readonly turn: number;
  readonly at: number;
  readonly status: "open" | "in_doubt" | "deferred" | "answered" | "failed" | "abandoned";
  readonly answeredTurn: number | null;
  readonly answeredAt: number | null;
  readonly by: string | null;
  readonly child: string | null;
}

export interface ArtifactLine {
  readonly name: string;
  readonly type: string;
  readonly mode: "replace" | "append";
  readonly value: CutText;
  readonly isJson: boolean;
  /** The turn that wrote it last, and where that came from. */
  readonly turn: number;
  readonly source: string;
  readonly before: number | null;
}

/** Everything about one turn. */
export interface Moment {
  readonly turn: number;
  readonly at: number;
  /** Without what the run came to. */
  readonly summary: Summary;
  /** Index of the visit's row; -1 before the first. */
  readonly row: number;
  readonly line: TurnLine;
  /** The visit's turns, those after this one included. */
  readonly turns: readonly TurnLine[];
  /** Asks of the visit that were made by now. */
  readonly steps: readonly StepLine[];
  readonly artifacts: readonly ArtifactLine[];
  /** The model call that this turn is about. */
  readonly modelStep: number | null;
  readonly facts: CutText;
  readonly variables: Readonly<Record<string, Json>>;
  readonly input: CutText;
  /** How often each way was taken: `from` and `to`, with a blank between, and a mark for redirects. */
  readonly ways: Readonly<Record<string, number>>;
}

export interface PromptPart {
  readonly text: CutText;
  readonly kind: string;
  readonly name: string;
}

export type ShownMessage = { readonly [K in "role" | "title"]: string } & {
  readonly text: CutText;
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly args: CutText }[];
  readonly isError: boolean;
};

/** One ask in full. */
export interface StepView extends StepLine {
  readonly key: string;
  readonly state: string | null;
  readonly visit: number | null;
  readonly args: CutText | null;
  readonly sha256: string | null;
  readonly result: CutText | null;
  readonly error: string | null;
  readonly parts: readonly PromptPart[];
  readonly missing: readonly string[];
  readonly messages: readonly ShownMessage[];
  readonly reply: ShownMessage | null;
  readonly offered: readonly string[];
  readonly request: CutText | null;
  readonly response: CutText | null;
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costUsd: number;
  } | null;
}

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

export interface ValueDiff {
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
  /** Why there are no lines. */
  readonly why: string | null;
}

export interface PackShape {
  readonly drawing: Drawing;
  readonly states: readonly StateLine[];
}

/** The graph as a table. */
export interface StateLine {
  readonly name: string;
  readonly facts: string;
  readonly limit: number | null;
  readonly leadsTo: readonly { readonly label: string; readonly to: string; readonly redirect: boolean }[];
}

export type Live = "loading" | "live" | "lost" | "ended";

/** What the page asks the journal. */
export interface Questions {
  moment(turn: number): Promise<Moment>;
  step(step: number, turn: number): Promise<StepView>;
  artifact(name: string, turn: number): Promise<string>;
  diff(name: string, turns: { readonly before: number; readonly after: number }): Promise<ValueDiff>;
  facts(turn: number): Promise<string>;
  /** The whole of a part that was cut: `args`, `result`, `request`, `response` of a step. */
  whole(step: number, part: "args" | "result" | "request" | "response"): Promise<string>;
  shape(): Promise<PackShape>;
}

/** What the journal says by itself. */
export type News =
  | { readonly kind: "visits"; readonly first: number; readonly rows: readonly VisitRow[] }
  | { readonly kind: "head"; readonly summary: Summary; readonly loaded: number; readonly turns: number }
  | { readonly kind: "live"; readonly live: Live }
  | { readonly kind: "tokens"; readonly step: number; readonly text: string }
  | { readonly kind: "broken"; readonly message: string };
