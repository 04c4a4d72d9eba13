// A real browser on a real server. Whatever the page complains of on its console, and whatever its policy
// stops, fails the test that saw it.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect, onTestFinished, vi } from "vitest";

// A page on a machine that does many other things takes its time.
vi.setConfig({ testTimeout: 240_000 });

const PROGRAM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** Tests are skipped where there is no browser. */
export const hasBrowser = existsSync(PROGRAM);

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Promise<Browser> | undefined;

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

export interface Opening {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  /** Complaints that the test itself brings about. */
  readonly expected?: RegExp;
}

/** Nothing has to be scrolled sideways, once the page has settled. */
export async function isNotTooWide(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
}

export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page complained of so far. */
  readonly complaints: readonly string[];
}

export async function openPage(url: string, opening: Opening = {}): Promise<Opened> {
  const { width = 1280, height = 800, theme = "light", expected } = opening;
  browser ??= chromium.launch({ executablePath: PROGRAM, args: ["--no-sandbox", "--disable-gpu"] });
  const context = await (await browser).newContext({ viewport: { width, height }, colorScheme: theme });
  const page = await context.newPage();
  const complaints: string[] = [];
  const complain = (text: string): void => {
    if (expected?.test(text) !== true) complaints.push(text);
  };
  page.on("pageerror", (error) => complain(`error: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complain(`${message.type()}: ${message.text()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(url);
  return { page, context, complaints };
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/** Rules whose answer depends on the theme and on the width of the window. */
const OF_LOOKS = ["target-size", "color-contrast", "scrollable-region-focusable", "aria-hidden-focus"];

/** What an independent checker of accessibility finds; `looks` asks only for what depends on them. */
export async function violations(page: Page, rules: "all" | "looks" = "all"): Promise<readonly string[]> {
  const runOnly = rules === "all" ? {} : { runOnly: { type: "rule", values: OF_LOOKS } };
  const options = { resultTypes: ["violations"], rules: { "target-size": { enabled: true } }, ...runOnly };
  // The page's policy forbids scripts that are put into it, so the checker is evaluated from outside, and
  // left there for as long as the page stays.
  const found = (await page.evaluate(
    `(() => { if (window.checker === undefined) { const module = { exports: {} };
      (function (module, exports) { ${axe} })(module, module.exports); window.checker = module.exports; }
      return window.checker.run(document, ${JSON.stringify(options)}).then((result) => result.violations); })()`,
  )) as readonly Violation[];
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}
