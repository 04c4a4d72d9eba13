// What the store asks of the one who writes, on this thread or on the commit thread. Plain data. Names of
// runs, keys and digests are as in their columns.

import type { TurnRow } from "../../core/facts.ts";
import type { RunColumns, TurnColumns } from "../journal/run-record.ts";
import type { SnapshotWrite } from "../journal/snapshot.ts";
import type { ErrorText } from "./store-fault.ts";

export type WriteRequest =
  | CommitRequest
  | ForkRequest
  | TakeRequest
  | { readonly kind: "program"; readonly digest: string; readonly program: string; readonly source: string }
  | { readonly kind: "remove"; readonly runs: readonly string[] }
  | CollectRequest
  /** Brings `head` up to date. Answered when all before it are. */
  | { readonly kind: "settle" };

export interface TurnWrite extends TurnColumns {
  readonly run: string;
  readonly turn: number;
  readonly at: number;
  readonly v: number;
  /** JSON. */
  readonly facts: string;
}

export interface CommitRequest extends TurnWrite {
  readonly kind: "commit";
  readonly create: RunColumns | undefined;
  readonly snapshot: SnapshotWrite | undefined;
}

export interface ForkRequest extends TurnWrite {
  readonly kind: "fork";
  readonly from: string;
  readonly create: RunColumns;
}

export interface TakeRequest {
  readonly kind: "take";
  readonly run: string;
  /** The whole journal; the first `shared` of its turns are here already. */
  readonly rows: readonly TurnRow[];
  readonly shared: number;
  readonly create: RunColumns;
}

export interface CollectRequest {
  readonly kind: "collect";
  /** False: only gives back free pages. */
  readonly sweep: boolean;
  /** Digests of programs that stay though no run refers to them. */
  readonly keep: readonly string[];
}

export type WriteReply =
  | TurnReply
  | { readonly kind: "done" }
  | { readonly kind: "collected"; readonly freed: number; readonly more: boolean }
  | { readonly kind: "failed"; readonly error: ErrorText };

export interface TurnReply {
  readonly kind: "turn";
  /** False: another turn, run or key was there first. */
  readonly written: boolean;
  /** Bytes of turns that wait for a snapshot, when there are enough of them; otherwise 0. */
  readonly overdue: number;
  readonly snapshot?: SnapshotReply;
}

export type SnapshotReply =
  /** Where its logs are kept. */
  | { readonly kind: "written"; readonly logs: readonly number[] }
  /** It weighs more than the turns since the one before. */
  | { readonly kind: "large"; readonly bytes: number }
  /** It continued logs that have gone on without it. */
  | { readonly kind: "stale" };
