// A page of the debugger in a real Chromium, and what can be measured of it.

import type { Browser, CDPSession, Page } from "playwright-core";
import { must } from "../src/base/assert.ts";

export interface Watched extends AsyncDisposable {
  readonly page: Page;
  /** Milliseconds from the opening to now. */
  since(): Promise<number>;
  /** The longest time in which the page could do nothing else, since the last time this was asked. */
  longestTask(): Promise<number>;
  /** Bytes of page and worker after what is not used was thrown away. */
  heap(): Promise<number>;
}

const watch = `globalThis.seen = { longest: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.longest = Math.max(seen.longest, entry.duration);
  }).observe({ type: "longtask", buffered: true });`;

export async function watchedPage(browser: Browser, url: string): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const heaps = await heapsOf(await context.newCDPSession(page));
  await page.addInitScript(watch);
  await page.goto(url, { waitUntil: "commit" });
  return {
    page,
    since: () => page.evaluate("performance.now()"),
    longestTask: () =>
      page.evaluate("(() => { const { longest } = seen; seen.longest = 0; return longest; })()"),
    heap: heaps,
    [Symbol.asyncDispose]: () => context.close(),
  };
}

interface Reply {
  readonly id: number;
  readonly result?: { readonly usedSize?: number };
}

/** The page and its workers are reached one by one: each has a heap of its own. */
async function heapsOf(cdp: CDPSession): Promise<() => Promise<number>> {
  const workers: string[] = [];
  const waiting = new Map<number, (reply: Reply) => void>();
  let last = 0;
  cdp.on("Target.attachedToTarget", ({ sessionId }) => workers.push(sessionId));
  cdp.on("Target.receivedMessageFromTarget", ({ message }) => {
    const reply = JSON.parse(message) as Reply;
    waiting.get(reply.id)?.(reply);
  });
  const ask = (sessionId: string, method: string): Promise<Reply> =>
    new Promise((resolve) => {
      last++;
      waiting.set(last, resolve);
      void cdp.send("Target.sendMessageToTarget", {
        sessionId,
        message: JSON.stringify({ id: last, method }),
      });
    });
  await cdp.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false });
  return async () => {
    await cdp.send("HeapProfiler.collectGarbage");
    let { usedSize: sum } = await cdp.send("Runtime.getHeapUsage");
    for (const worker of workers) {
      await ask(worker, "HeapProfiler.collectGarbage");
      sum += must((await ask(worker, "Runtime.getHeapUsage")).result?.usedSize, "a worker has a heap");
    }
    return sum;
  };
}

/** In the page: moves the slider and waits until the inspector shows the turn and is painted. */
const clickTo = `(turn) => {
  const slider = document.querySelector("input[type=range]");
  const start = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, String(turn));
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  return new Promise((resolve) => {
    const look = () => {
      const shown = document.querySelector(".turn-list .selected .turn-number")?.textContent;
      requestAnimationFrame(shown === String(turn) ? () => resolve(performance.now() - start) : look);
    };
    look();
  });
}`;

export const clickMs = (page: Page, turn: number): Promise<number> => page.evaluate(`(${clickTo})(${turn})`);

export interface Scrolled {
  readonly framesPerSecond: number;
  /** The longest time in which a row in sight was not drawn. */
  readonly blankMs: number;
}

/** In the page: scrolls the table by as much in every frame, and looks at what can be seen of it. */
const scrollFor = `(ms) => {
  const table = document.querySelector(".trace");
  const isBlank = () => {
    const { top, bottom } = table.getBoundingClientRect();
    const rows = [...table.querySelectorAll(".trace-body .trace-row")].map((row) => ({
      box: row.getBoundingClientRect(), isWaiting: row.classList.contains("waiting-row") }))
      .filter(({ box }) => box.bottom > top + 40 && box.top < bottom);
    const drawn = rows.filter(({ isWaiting }) => !isWaiting);
    return drawn.length === 0 || drawn.length < Math.floor((bottom - top - 40) / 34) - 1;
  };
  return new Promise((resolve) => {
    const start = performance.now();
    let [frames, blank, since] = [0, 0, undefined];
    const step = (now) => {
      frames++;
      if (isBlank()) blank = Math.max(blank, now - (since ??= now));
      else since = undefined;
      const passed = now - start;
      if (passed > ms) return resolve({ framesPerSecond: (frames * 1000) / passed, blankMs: blank });
      // Up, and now and then somewhere else.
      const jumps = table.scrollTop < 200 || frames % 50 === 0;
      table.scrollTop = jumps ? Math.random() * table.scrollHeight : table.scrollTop - 150;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}`;

export const scrolled = (page: Page, ms: number): Promise<Scrolled> => page.evaluate(`(${scrollFor})(${ms})`);
