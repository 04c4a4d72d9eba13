// `packloop inbox`: everything that waits for a person, over all runs.

import { Command } from "commander";
import { type InboxItem, inboxOf } from "../../host/inbox.ts";
import { write, writeText } from "../output.ts";
import { noteDamaged } from "../runs/load-run.ts";
import { openWorlds } from "../runs/open-engine.ts";
import { openStore } from "../runs/open-store.ts";
import { waitText } from "../runs/result-text.ts";

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
      await using worlds = openWorlds({ store: flags.store });
      const { items } = await inboxOf(store, noteDamaged, { limit: Number.MAX_SAFE_INTEGER, worlds });
      if (flags.json === true) write(`${JSON.stringify(items, null, 2)}\n`);
      else writeText(items.length === 0 ? "nothing waits for a person\n" : items.map(itemText).join("\n"));
    });
}

function itemText(item: InboxItem): string {
  const { run, pack, state, kind, since, expires_at: expires, parents } = item;
  const head = `${run}  ${kind.padEnd(9)} ${pack.id} ${state ?? ""}  since ${since}`;
  const callers = parents.length === 0 ? [] : [`  for ${[...parents, run].join(" → ")}`];
  // The item's own run is not an agent's that it waits for.
  const { run: _run, ...wait } = item;
  const lines = [head + (expires === null ? "" : `, until ${expires}`), ...callers, ...waitText(run, wait)];
  return `${lines.join("\n")}\n`;
}
