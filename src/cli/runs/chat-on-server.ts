// `packloop chat` on a store that a server holds: the server drives the run, and what it says is shown here.

import { emptyRun, type Run } from "../../core/run.ts";
import type { Store } from "../../engine/ports.ts";
import { usageError } from "../exit.ts";
import { note } from "../output.ts";
import { chatShow } from "./chat-lines.ts";
import { loadRun } from "./load-run.ts";
import { type ServerStart, sayOnServer, startOnServer, untilSettled } from "./on-server.ts";
import { openStore } from "./open-store.ts";
import { type ServerClient, ServerProblem } from "./server-client.ts";
import { type TalkPartner, talk } from "./talk.ts";

interface Flags {
  readonly model?: string;
  readonly config?: string;
  readonly script?: string;
  readonly by: string;
  readonly store?: string;
}

/** A conversation that is to be started, or the name of one to go on with. */
export async function chatOnServer(
  server: ServerClient,
  flags: Flags,
  wish: ServerStart | string,
): Promise<number> {
  const isNew = typeof wish !== "string";
  if ([flags.model, flags.config, isNew ? undefined : flags.script].some((flag) => flag !== undefined))
    throw usageError(`the server at ${server.url} has the store and runs packs with its own settings`);
  if (isNew) {
    const { run: id, pack } = await startOnServer(server, { ...wish, mode: "conversational" });
    note(`${id}  ${pack.id} ${pack.version}`);
    await using store = await openStore({ store: flags.store, readOnly: true });
    return await talk(partnerOn(server, { store, id, before: emptyRun }), id, flags.by);
  }
  await using store = await openStore({ store: flags.store, readOnly: true });
  const { id, run: before } = await loadRun(store, wish);
  return await talk(partnerOn(server, { store, id, before }), id, flags.by);
}

interface Talked {
  readonly store: Store;
  readonly id: string;
  /** As it was shown last. */
  readonly before: Run;
}

function partnerOn(server: ServerClient, { store, id, before }: Talked): TalkPartner {
  const gone = new AbortController();
  const show = chatShow(before.open);
  const settled = (from: Run): Promise<Run> =>
    untilSettled(server, { store, id, before: from, onTurn: (row) => show(row) }, gone.signal);
  return {
    settled: () => settled(before),
    letGo: () => gone.abort(),
    summary: () => server.summary(id),
    async say(input, run) {
      try {
        const { ignored, ignored_because: why } = await sayOnServer(server, id, input);
        if (ignored === true) note(`ignored: ${why ?? ""}`);
      } catch (error) {
        if (!(error instanceof ServerProblem) || error.status >= 500) throw error;
        note(error.message);
        return run;
      }
      return settled(run);
    },
  };
}
