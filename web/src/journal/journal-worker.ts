// The worker: one run's journal, and answers to what the page asks about it.

import { JournalService } from "./journal-service.ts";
import { serverSource } from "./server-source.ts";
import type { Call, FromWorker, ToWorker } from "./worker-messages.ts";

interface WorkerScope {
  postMessage(message: FromWorker): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToWorker>) => void): void;
}

const scope = self as unknown as WorkerScope;
let service: JournalService | undefined;
/** What was asked before the journal is open. */
const waiting: Call[] = [];

scope.addEventListener("message", ({ data }) => {
  if (data.kind === "open") {
    service?.end();
    service = new JournalService(data.run, serverSource(data.run), (news) =>
      scope.postMessage({ kind: "news", news }),
    );
    service.begin(data.turn);
    const early = waiting.splice(0);
    for (const call of early) void reply(service, call);
  } else if (service === undefined) waiting.push(data);
  else void reply(service, data);
});

async function reply(to: JournalService, { id, name, args }: Call): Promise<void> {
  try {
    const answer = (to[name] as (...given: unknown[]) => Promise<unknown>).bind(to);
    scope.postMessage({ kind: "answer", id, value: await answer(...args) });
  } catch (error) {
    scope.postMessage({
      kind: "failed",
      id,
      message: error instanceof Error ? error.message : String(error),
    });
  }
}
