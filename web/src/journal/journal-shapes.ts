// What is known of a run, in the pieces that cross from the worker to the page. Large values stay behind: a
// text that is cut says how long it is, and is fetched whole when somebody asks for it.

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
  /** The turn that wrote it last, and where that came from; null until the turns before are read. */
  readonly turn: number | null;
  readonly source: string;
  readonly before: number | null;
  /** The commit that it points to, where it looks as if it does. */
  readonly commit: string | null;
}

export interface VariableLine {
  readonly name: string;
  readonly value: CutText;
}

/** Everything about one turn. */
export interface LogLine {
  readonly turn: number;
  readonly at: number;
  readonly step: number | null;
  readonly text: string;
  /** What was printed or said with it, in part. */
  readonly output: string | null;
}

export interface Moment {
  readonly turn: number;
  /** Made from all turns before it. Where it was not, ways are not counted and early writes are not known. */
  readonly isWhole: boolean;
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
  /** What happened around the calls of the visit by now. */
  readonly logs: readonly LogLine[];
  readonly variables: readonly VariableLine[];
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
  /** Messages before those, which are not shown. */
  readonly earlier: number;
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

/** One place of a JSON value, and what became of it. */
export type TreeChange =
  | { readonly kind: "added"; readonly key: string; readonly after: string }
  | { readonly kind: "removed"; readonly key: string; readonly before: string }
  | { readonly kind: "changed"; readonly key: string; readonly before: string; readonly after: string }
  /** The items are those they were, in another order. */
  | { readonly kind: "moved"; readonly key: string }
  | {
      readonly kind: "inside";
      readonly key: string;
      readonly isList: boolean;
      readonly children: readonly TreeChange[];
      /** Members that did not change. */
      readonly same: number;
    };

export interface ValueDiff {
  readonly lines: readonly DiffLine[];
  /** In place of lines, for two values of JSON. */
  readonly tree: readonly TreeChange[] | null;
  /** All that was there before is still there, and something follows it. */
  readonly isAppended: boolean;
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

/** What each state came to by a turn, and how use grew. */
export interface BudgetView {
  readonly turn: number;
  readonly states: readonly StateUse[];
  /** As visits began, some left out where there are many, and at the turn. */
  readonly course: readonly SummaryUsed[];
}

export interface StateUse {
  readonly state: string;
  readonly used: SummaryUsed;
}

/** A part of a step that may have been cut; messages, pieces of the prompt and calls by their place. */
export type WholePart =
  | "args"
  | "result"
  | "request"
  | "response"
  | "reply"
  | `part ${number}`
  | `message ${number}`
  | `call ${number} ${number}`;

export type Live = "loading" | "live" | "lost" | "ended";

/** What the page asks the journal. */
export interface Questions {
  moment(turn: number): Promise<Moment>;
  /** In `brief` without what the model was sent. */
  step(step: number, turn: number, detail?: "brief"): Promise<StepView>;
  artifact(name: string, turn: number): Promise<string>;
  diff(name: string, turns: { readonly before: number; readonly after: number }): Promise<ValueDiff>;
  facts(turn: number): Promise<string>;
  input(turn: number): Promise<string>;
  variable(name: string, turn: number): Promise<string>;
  /** The whole of what a step's view shows in part. */
  whole(step: number, part: WholePart): Promise<string>;
  shape(digest: string): Promise<PackShape>;
  /** Waits until every turn up to this one is here. */
  budget(turn: number): Promise<BudgetView>;
  /** Rows from a place on; fewer where there are no more. */
  visits(first: number, most: number): Promise<readonly VisitRow[]>;
}

/** What the journal says by itself. */
export type News =
  | { readonly kind: "visits"; readonly first: number; readonly rows: readonly VisitRow[] }
  | { readonly kind: "head"; readonly summary: Summary; readonly loaded: number; readonly turns: number }
  | { readonly kind: "live"; readonly live: Live }
  | { readonly kind: "tokens"; readonly step: number; readonly text: string }
  | { readonly kind: "broken"; readonly message: string };
