// The termination certificate as a document: what `--certificate` writes, and what is kept with a run.

import type { Bound, Proof, Verdict } from "./bound.ts";
import { type BoundedProgram, type WithChildren, withChildren } from "./with-children.ts";

/** The names are part of the file format. Null where no number holds. */
export interface Certificate {
  readonly kind: "packloop.bound/1";
  readonly pack: { readonly id: string; readonly version: string; readonly digest: string };
  /** The state runs begin at; empty for a pack without workflow. */
  readonly entry: string;
  readonly verdict: Verdict;
  readonly exact: boolean;
  readonly configurations: number;
  readonly visits: number | null;
  readonly model_calls: number | null;
  readonly tool_calls: number | null;
  readonly wall_time_sec: number | null;
  readonly per_state: Readonly<Record<string, number | null>>;
  readonly with_children: WithChildren;
  readonly proof: Proof | null;
  /** An endless run: the states to the cycle, then one lap. Without a prefix it is only a suspicion. */
  readonly witness: { readonly prefix: readonly string[]; readonly cycle: readonly string[] } | null;
}

/** `bound` is one of the pack's own. */
export function certificateOf(pack: BoundedProgram & { readonly digest: string }, bound: Bound): Certificate {
  const { id, version } = pack.program;
  return {
    kind: "packloop.bound/1",
    pack: { id, version, digest: pack.digest },
    entry: bound.entry,
    verdict: bound.verdict,
    exact: bound.exact,
    configurations: bound.configurations,
    visits: bound.visits,
    model_calls: bound.modelCalls,
    tool_calls: bound.toolCalls,
    wall_time_sec: bound.wallTimeSec,
    per_state: bound.perState,
    with_children: withChildren(pack, bound),
    proof: bound.proof,
    witness: bound.witness,
  };
}
