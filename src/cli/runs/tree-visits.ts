// The visits of a run that is shown and of the agents under it, each run's on its own. Turns of other runs,
// of a caller say, are none of its business.

import type { TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import { type Visit, VisitLog, type VisitNews } from "./visit-log.ts";

export interface TreeNews {
  readonly news: VisitNews;
  /** Steps from the run that is shown to the agent's: `/4`, `/4/2`; empty for the run itself. */
  readonly path: string;
}

interface Followed {
  readonly log: VisitLog;
  readonly run: Run;
}

export class TreeVisits {
  #root = "";
  readonly #runs = new Map<string, Followed>();

  goOn(root: string, before: Run, since: number): void {
    this.#root = root;
    const log = new VisitLog();
    log.goOn(before, since);
    this.#runs.set(root, { log, run: before });
  }

  /** The visit of the run itself that is under way. */
  get visit(): Visit | undefined {
    return this.#runs.get(this.#root)?.log.visit;
  }

  turn(id: string, row: TurnRow, run: Run): readonly TreeNews[] {
    if (id !== this.#root && !id.startsWith(`${this.#root}/`)) return [];
    const log = this.#runs.get(id)?.log ?? new VisitLog();
    const path = id.slice(this.#root.length);
    const news = log.turn(row, run).map((one) => ({ news: one, path }));
    // An agent that has ended is heard of no more.
    if (run.final !== null && path !== "") this.#runs.delete(id);
    else this.#runs.set(id, { log, run });
    return news;
  }

  /** What the agent of a step does, down to the one that works: `look 2 › clerk`. */
  inside(step: number, of = this.#root): string {
    const id = `${of}/${step}`;
    const { log, run } = this.#runs.get(id) ?? {};
    const visit = log?.visit;
    if (visit === undefined || run === undefined) return "";
    const deeper = Object.entries(run.open).find(([, { ask }]) => ask.kind === "agent");
    const [next, call] = deeper ?? [];
    const called = call?.ask.kind === "agent" ? ` › ${call.ask.tool}${this.inside(Number(next), id)}` : "";
    return ` › ${visit.state} ${visit.number}${called}`;
  }
}
