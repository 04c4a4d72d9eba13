// Messages between a store and its commit thread. A message of a hundred objects takes longer to copy than
// their turns take to write, so ordinary turns travel as one flat list of texts and numbers, and their
// replies as one list of numbers.

import type { OpenOptions } from "./database.ts";
import type { CommitRequest, WriteReply, WriteRequest } from "./requests.ts";
import type { ErrorText } from "./store-fault.ts";

/** How the commit thread is told what to open. */
export interface ThreadData {
  readonly path: string;
  readonly options: OpenOptions;
}

export type ToThread =
  /** `forget`: others have written since the last group. */
  | { readonly kind: "group"; readonly group: PackedRequests; readonly forget: boolean }
  | { readonly kind: "close" };

export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "written"; readonly replies: PackedReplies; readonly ms: number }
  /** None of the group was written. When `final`, nothing will be. */
  | { readonly kind: "failed"; readonly error: ErrorText; readonly final: boolean };

export interface PackedRequests {
  /** Seven cells for each turn that neither creates a run nor brings a snapshot. */
  readonly turns: readonly (string | number)[];
  /** Any other request, and its place in the group. */
  readonly others: readonly (readonly [place: number, request: WriteRequest])[];
}

export interface PackedReplies {
  /** For each request -1 when its turn was not taken, otherwise what waits for a snapshot. */
  readonly turns: readonly number[];
  readonly others: readonly (readonly [place: number, reply: WriteReply])[];
}

const CELLS = 7;

export function packRequests(requests: readonly WriteRequest[]): PackedRequests {
  const turns: (string | number)[] = [];
  const others: [number, WriteRequest][] = [];
  for (const [place, request] of requests.entries()) {
    if (request.kind !== "commit" || request.create !== undefined || request.snapshot !== undefined) {
      others.push([place, request]);
    } else {
      const { run, turn, at, v, facts, standing, summary } = request;
      turns.push(run, turn, at, v, facts, standing, summary);
    }
  }
  return { turns, others };
}

export function unpackRequests({ turns, others }: PackedRequests): readonly WriteRequest[] {
  const requests: WriteRequest[] = [];
  for (let i = 0; i < turns.length; i += CELLS) requests.push(turnAt(turns, i));
  // Places are in ascending order, so each request is put where it was taken from.
  for (const [place, request] of others) requests.splice(place, 0, request);
  return requests;
}

function turnAt(cells: readonly (string | number)[], i: number): CommitRequest {
  return {
    kind: "commit",
    run: cells[i] as string,
    turn: cells[i + 1] as number,
    at: cells[i + 2] as number,
    v: cells[i + 3] as number,
    facts: cells[i + 4] as string,
    standing: cells[i + 5] as string,
    summary: cells[i + 6] as string,
    create: undefined,
    snapshot: undefined,
  };
}

export function packReplies(replies: readonly WriteReply[]): PackedReplies {
  const turns: number[] = [];
  const others: [number, WriteReply][] = [];
  for (const [place, reply] of replies.entries()) {
    const plain = reply.kind === "turn" && reply.snapshot === undefined;
    turns.push(plain && reply.written ? reply.overdue : -1);
    if (!plain) others.push([place, reply]);
  }
  return { turns, others };
}

export function unpackReplies({ turns, others }: PackedReplies): readonly WriteReply[] {
  const replies = turns.map(
    (overdue): WriteReply => ({ kind: "turn", written: overdue >= 0, overdue: Math.max(0, overdue) }),
  );
  for (const [place, reply] of others) replies[place] = reply;
  return replies;
}
