// HTML to Markdown on a thread of its own. Nested elements can keep the reader busy for minutes (1,000 of
// them took half of one), so the thread has a time and a memory; a page that uses them up is read as plain
// text.

import { Worker } from "node:worker_threads";
import type { Page, PageText } from "./page.ts";
import { plainText } from "./plain-text.ts";

const THREAD_MS = 5000;
const THREAD_MB = 512;

export async function pageText(page: Page, signal: AbortSignal): Promise<PageText> {
  const text = await converted(page, signal);
  return text === undefined || text.markdown === "" ? plainText(page.html) : text;
}

/** Undefined when the page was too much for the thread. */
function converted(page: Page, signal: AbortSignal): Promise<PageText | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<PageText | undefined>();
  const thread = new Worker(threadFile(), {
    workerData: page,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MB, stackSizeMb: 16 },
  });
  const timer = setTimeout(() => resolve(undefined), THREAD_MS);
  const give = () => reject(signal.reason);
  signal.addEventListener("abort", give, { once: true });
  thread.once("message", (text: PageText) => resolve(text));
  // Its memory or its stack ran out.
  thread.once("error", () => resolve(undefined));
  thread.once("exit", () => resolve(undefined));
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", give);
    void thread.terminate();
  });
}

function threadFile(): URL {
  const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./page-thread.${ending}`, import.meta.url);
}
