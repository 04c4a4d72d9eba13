// What a run itself waits for, as cards show it: from the journal at once, and from the inbox as soon as it
// has answered.

import { leftOutOf } from "../../../src/core/short-turn.ts";
import type { InboxItem } from "../../../src/host/inbox.ts";
import type { Moment } from "../journal/journal-shapes.ts";

type Waiting = Pick<Moment, "turn" | "summary">;

/**
 * `told` is what the inbox has of it. What the journal has only a part of is not shown before: somebody would
 * approve, or change, arguments that are not those of the call.
 */
export function ownAsks(
  run: string,
  { turn, summary }: Waiting,
  told: readonly InboxItem[],
): readonly InboxItem[] {
  const { waiting_for: waits, state, pack, updated_at: since } = summary;
  return waits.flatMap((wait): readonly InboxItem[] => {
    if (wait.run !== undefined) return [];
    const known = told.find((item) => item.run === run && item.step === wait.step);
    if (known !== undefined) return [{ ...known, turn }];
    if (leftOutOf(JSON.stringify(wait)).length > 0) return [];
    const unknown = { expires_at: null, requested_by: null, parents: [] };
    return [{ ...wait, run, pack, state, since, turn, ...unknown }];
  });
}
