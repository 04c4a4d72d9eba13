// Turns as visits: what a person wants to hear of while a run goes on. Fed with every turn, it says which
// visits ended, which were redirected, and which one is under way.

import type { Json } from "../../base/json.ts";
import type { Entered, Fact, FinalStatus, TurnRow } from "../../core/facts.ts";
import { type Run, statusOf } from "../../core/run.ts";

export interface Visit {
  /** The state, or the prompt of a pack without a workflow. */
  readonly state: string;
  readonly number: number;
  readonly startedAt: number;
  /** Calls of tools and agents. */
  readonly calls: number;
  /** Artifacts written in it, with what was written last. */
  readonly wrote: ReadonlyMap<string, Json>;
}

export type VisitNews =
  | {
      readonly kind: "ended";
      readonly visit: Visit;
      readonly event: string;
      /** Null when the run went on. */
      readonly status: FinalStatus | null;
      readonly ms: number;
    }
  | { readonly kind: "redirected"; readonly to: string; readonly hops: readonly string[] }
  | { readonly kind: "waits"; readonly visit: Visit };

export class VisitLog {
  #visit: Visit | undefined;

  get visit(): Visit | undefined {
    return this.#visit;
  }

  /** For a run that is taken up in the middle of a visit. */
  goOn(run: Run, since: number): void {
    if (!run.started || run.final !== null) return;
    const number = run.state === null ? 1 : (run.visits[run.state] ?? 1);
    this.#begin(run.state ?? run.prompt, number, since);
    if (this.#visit !== undefined) this.#visit = { ...this.#visit, calls: run.visitCalls };
  }

  turn(row: TurnRow, run: Run): readonly VisitNews[] {
    const news: VisitNews[] = [];
    for (const fact of row.facts) this.#fact(fact, row.at, news);
    if (this.#visit !== undefined && run.final === null && statusOf(run) === "waiting")
      news.push({ kind: "waits", visit: this.#visit });
    return news;
  }

  #fact(fact: Fact, at: number, news: VisitNews[]): void {
    const visit = this.#visit;
    // A workflow's run names no prompt here: it enters its first state.
    if (fact.type === "started" && fact.prompt !== "") this.#begin(fact.prompt, 1, at);
    else if (fact.type === "entered") this.#entered(fact, at, news);
    else if (visit === undefined) return;
    else if (fact.type === "asked" && (fact.ask.kind === "tool" || fact.ask.kind === "agent"))
      this.#visit = { ...visit, calls: visit.calls + 1 };
    else if (fact.type === "wrote")
      this.#visit = { ...visit, wrote: new Map(visit.wrote).set(fact.artifact, fact.value) };
    else if (fact.type === "finished") {
      const event = fact.status === "completed" ? "end" : fact.status;
      news.push({ kind: "ended", visit, event, status: fact.status, ms: at - visit.startedAt });
      this.#visit = undefined;
    }
  }

  #entered({ state, visit: number, cause }: Entered, at: number, news: VisitNews[]): void {
    const before = this.#visit;
    const event = cause.kind === "event" ? cause.event : "";
    if (before !== undefined)
      news.push({ kind: "ended", visit: before, event, status: null, ms: at - before.startedAt });
    if (cause.kind === "event" && cause.hops !== undefined && cause.hops.length > 0)
      news.push({ kind: "redirected", to: state, hops: cause.hops });
    this.#begin(state, number, at);
  }

  #begin(state: string, number: number, startedAt: number): void {
    this.#visit = { state, number, startedAt, calls: 0, wrote: new Map() };
  }
}
