// `packloop inbox`: everything that waits for a person, over all runs.

import { Command } from "commander";
import { isoTime } from "../../base/iso-time.ts";
import { summaryOf, type WaitingFor } from "../../core/summary.ts";
import type { RunRecord, Store } from "../../engine/ports.ts";
import { write } from "../output.ts";
import { waitText } from "../runs/drive.ts";
import { eachRecord, runAt } from "../runs/load-run.ts";
import { openStore } from "../runs/open-store.ts";

interface InboxItem extends WaitingFor {
  readonly run: string;
  readonly pack: { readonly id: string; readonly version: string; readonly digest: string };
  readonly state: string | null;
  /** The run's last turn: since then nothing has moved it. */
  readonly since: string;
  /** When its wall time ends it, if there is a limit. */
  readonly expires_at: string | null;
}

export function inboxCommand(): Command {
  return new Command()
    .description("List what waits for a person, oldest first: events, messages, approvals, calls in doubt.")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop inbox\n  packloop inbox --json\n\nExit codes: 0 listed, 5 no store here",
    )
    .action(async (flags: { store?: string; json?: true }) => {
      await using store = await openStore({ store: flags.store, readOnly: true });
      const items = await inboxOf(store);
      if (flags.json === true) write(`${JSON.stringify(items, null, 2)}\n`);
      else write(items.length === 0 ? "nothing waits for a person\n" : items.map(itemText).join("\n"));
    });
}

async function inboxOf(store: Store): Promise<readonly InboxItem[]> {
  const found: { readonly record: RunRecord; readonly items: readonly InboxItem[] }[] = [];
  // A run at work may have a question open beside it: an approval, or the events of a hybrid state.
  for await (const record of eachRecord(store, { status: ["waiting", "running"] })) {
    if (record.open.length > 0) found.push({ record, items: await itemsOf(store, record) });
  }
  // The store lists the newest first; among runs of one moment the older one comes first as well.
  return found
    .reverse()
    .toSorted((a, b) => a.record.updatedAt - b.record.updatedAt)
    .flatMap(({ items }) => items);
}

async function itemsOf(store: Store, record: RunRecord): Promise<readonly InboxItem[]> {
  const { run: id, packId, packVersion, digest, state, updatedAt, due } = record;
  const pack = { id: packId, version: packVersion, digest };
  const run = await runAt(store, id, record.turn);
  return summaryOf(id, pack, run).waiting_for.map((wait) => ({
    run: id,
    ...wait,
    pack,
    state,
    since: isoTime(updatedAt),
    expires_at: due === null ? null : isoTime(due),
  }));
}

function itemText(item: InboxItem): string {
  const { run, pack, state, kind, since, expires_at: expires } = item;
  const head = `${run}  ${kind.padEnd(9)} ${pack.id} ${state ?? ""}  since ${since}`;
  const lines = [head + (expires === null ? "" : `, until ${expires}`), ...waitText(run, item)];
  return `${lines.join("\n")}\n`;
}
