// Every screen, dialog and state of one, in both themes and at three widths: it is there, an independent checker
// finds nothing wrong with it, and nothing has to be scrolled sideways, also when it is magnified four times.
// With a folder in SCREENSHOTS each is kept as a picture, too.

import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { closeBrowser, hasBrowser, openPage, violations } from "./browser.ts";
import { type Scene, stage } from "./scenes.ts";

afterAll(closeBrowser);

const pictures = process.env["SCREENSHOTS"];

/** The first is looked at by every rule, the others by those that depend on the looks; 320 is 1280 at 400 %. */
const LOOKS = [
  { width: 1280, theme: "light", rules: "all" },
  { width: 1280, theme: "dark", rules: "looks" },
  { width: 1920, theme: "light", rules: "looks" },
  { width: 360, theme: "dark", rules: "looks" },
  { width: 320, theme: "light", rules: "none" },
] as const;

async function show(page: Page, url: string, scene: Scene): Promise<void> {
  const { path, shows, press = [], before, act } = scene;
  await before?.(page);
  const panel = path.startsWith("/r/") && !path.includes("panel=") ? "inspector" : undefined;
  const query = panel === undefined ? "" : `${path.includes("?") ? "&" : "?"}panel=${panel}`;
  await page.goto(`${url}${path}${query}`);
  for (const name of press) await page.getByRole("button", { name, exact: true }).click();
  await act?.(page);
  await page.getByText(shows).first().waitFor();
}

async function problemsOf(page: Page, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { width, theme, rules } of LOOKS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: theme });
    const extra = (await page.evaluate(SETTLED)) as number;
    const wide = extra > 0 ? [`${extra} pixels too wide`] : [];
    const wrong = rules === "none" ? [] : await violations(page, rules);
    found.push(...[...wide, ...wrong].map((one) => `${name}, ${theme}, ${width}: ${one}`));
    if (pictures !== undefined)
      await page.screenshot({ path: join(pictures, `${name.replaceAll(" ", "-")}-${theme}-${width}.png`) });
  }
  return found;
}

describe.skipIf(!hasBrowser)("in a browser: screens", () => {
  test("are whole, readable and accessible, in both themes and at every width", async () => {
    const { server, scenes } = await stage();
    const problems: string[] = [];
    const expected = /404|500|401/;
    const { page, complaints } = await openPage(server.url, { expected });
    await page.emulateMedia({ reducedMotion: "reduce" });
    for (const [name, scene] of Object.entries(scenes)) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: "light" });
      await show(page, server.url, scene);
      problems.push(...(await problemsOf(page, name)));
      await page.unrouteAll({ behavior: "ignoreErrors" });
      if (complaints.length > 0) problems.push(`${name}: ${complaints.join("; ")}`);
    }
    expect(problems).toEqual([]);
  }, 900_000);

  test("show where the focus is, whatever has it", async () => {
    const { server, scenes } = await stage();
    const { page } = await openPage(server.url);
    const unseen = new Set<string>();
    for (const name of ["approval", "fork", "inbox", "runs", "settings"]) {
      await show(page, server.url, scenes[name] as Scene);
      for (let pressed = 0; pressed < 30; pressed++) {
        await page.keyboard.press("Tab");
        const missing = await page.evaluate(FOCUS);
        if (typeof missing === "string") unseen.add(`${name}: ${missing}`);
      }
    }
    expect([...unseen]).toEqual([]);
  }, 300_000);
});

/** Pixels that the page is too wide by, when it has had the time to become as wide as it should be. */
const SETTLED = `new Promise((resolve) => {
  const look = (left) => {
    const extra = document.documentElement.scrollWidth - innerWidth;
    if (extra <= 0 || left === 0) resolve(extra);
    else requestAnimationFrame(() => look(left - 1));
  };
  look(60);
})`;

/** What has the focus and does not show it, or is covered; null where all is well. */
const FOCUS = `(() => {
  const element = document.activeElement;
  // States of the graph are marked by their own stroke.
  if (element === null || element === document.body || element instanceof SVGElement) return null;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  const isMarked = (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [Math.min(Math.max(left + Math.min(width, 20) / 2, 0), innerWidth - 1), top + Math.min(height, 20) / 2];
  const seen = document.elementFromPoint(x, y);
  const isCovered = seen !== null && !element.contains(seen) && !seen.contains(element);
  return isMarked && !isCovered ? null : element.tagName + " " + (element.ariaLabel ?? element.textContent ?? "").slice(0, 40) + (isCovered ? " is covered" : " is not marked");
})()`;
