// Adds a journal that was written elsewhere, in the transaction of its group: all turns or none. It is folded
// here, so that a long journal gets the snapshots it would have got turn by turn.

import { assert } from "../../base/assert.ts";
import { applyTurn } from "../../core/apply.ts";
import { emptyRun } from "../../core/run.ts";
import { toColumn } from "../journal/column-text.ts";
import { turnColumns } from "../journal/run-record.ts";
import { digestsOf } from "../record.ts";
import type { TakeRequest, TurnReply } from "./requests.ts";
import { SnapshotKeeper } from "./snapshot-keeper.ts";
import type { TurnWriter } from "./turn-writer.ts";

export class JournalWriter {
  readonly #turns: TurnWriter;

  constructor(turns: TurnWriter) {
    this.#turns = turns;
  }

  take({ run, rows, shared, create }: TakeRequest): TurnReply {
    const keeper = new SnapshotKeeper();
    let folded = emptyRun;
    let reply: TurnReply = { kind: "turn", written: false, overdue: 0 };
    for (const row of rows) {
      folded = applyTurn(folded, row);
      if (row.turn <= shared) continue;
      const { turn, at, v, facts } = row;
      reply = this.#turns.commit({
        kind: "commit",
        ...{ run, turn, at, v, facts: JSON.stringify(facts), ...turnColumns(folded) },
        create: turn === 1 ? create : undefined,
        snapshot: keeper.take(run, folded),
      });
      if (!reply.written && turn === shared + 1) return reply;
      assert(reply.written, "where the first of these turns was free, so are the others");
      keeper.heard(run, folded, reply);
    }
    for (const digest of digestsOf(rows)) this.#turns.use(run, toColumn(digest));
    const { written, overdue } = reply;
    return { kind: "turn", written, overdue };
  }
}
