// The page's end of the worker.

import type { News, Questions } from "./journal-shapes.ts";
// oxlint-disable-next-line import/default -- the bundler makes it an address
import workerUrl from "./journal-worker.ts?worker&url";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

export interface Journaled extends Questions {
  begin(turn?: number): void;
  end(): void;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export function workerJournal(run: string, say: (news: News) => void): Journaled {
  const worker = new Worker(trusted(workerUrl), { type: "module" });
  const waiting = new Map<number, Waiting>();
  const send = (message: ToWorker): void => worker.postMessage(message);
  let last = 0;
  worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
    if (data.kind === "news") return say(data.news);
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.kind === "answer") asked?.resolve(data.value);
    else asked?.reject(new Error(data.message));
  });
  worker.addEventListener("error", () => say({ kind: "broken", message: "the page's worker has stopped" }));
  const question =
    (name: keyof Questions) =>
    (...args: unknown[]): Promise<never> =>
      new Promise((resolve, reject) => {
        last++;
        waiting.set(last, { resolve: resolve as (value: unknown) => void, reject });
        send({ kind: "ask", id: last, name, args } as ToWorker);
      });
  return {
    begin: (turn) => send({ kind: "open", run, turn }),
    end: () => worker.terminate(),
    moment: question("moment"),
    step: question("step"),
    artifact: question("artifact"),
    diff: question("diff"),
    facts: question("facts"),
    input: question("input"),
    variable: question("variable"),
    whole: question("whole"),
    shape: question("shape"),
    budget: question("budget"),
    visits: question("visits"),
  };
}

/** The policy of the page lets only named policies make addresses of scripts. */
interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies };
  policy ??= trustedTypes?.createPolicy("packloop-worker", {
    createScriptURL: (given) => {
      if (given === workerUrl) return given;
      throw new TypeError("only the page's own worker may be started");
    },
  });
  return policy?.createScriptURL(url) ?? url;
}

let policy: ReturnType<Policies["createPolicy"]> | undefined;
