// Every key of the table of keys, where letters mean nothing, and what is told to those who cannot see.

import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.ts";
import { type Served, served } from "../server/served.ts";
import { completed, waiting } from "../server/started-run.ts";
import { closeBrowser, hasBrowser, openPage } from "./browser.ts";
import { builtPage } from "./built-page.ts";

afterAll(closeBrowser);

const serve = async (): Promise<Served> => served({ webFolder: await builtPage(), store: memoryStore() });

async function openRun(server: Served, run: string): Promise<Page> {
  const { page, context } = await openPage(`${server.url}/r/${run}`);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByText("The model said").waitFor();
  return page;
}

const press = async (page: Page, ...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

const turnIs = (page: Page, turn: number): Promise<void> =>
  page.getByText(`turn ${turn} of`).first().waitFor();

describe.skipIf(!hasBrowser)("in a browser: keys", () => {
  test("every key of a run does what the list of keys says", async () => {
    const server = await serve();
    const run = await completed(server);
    const rows = (await server.get(`/api/runs/${run}/trace`)).body as unknown as readonly { turn: number }[];
    const turnOf = (row: number): number => rows[row]?.turn ?? 0;
    const page = await openRun(server, run);
    await press(page, "Home");
    await turnIs(page, 1);
    await press(page, "j", "ArrowDown");
    await turnIs(page, 3);
    await press(page, "k", "ArrowUp");
    await turnIs(page, 1);
    await press(page, "]");
    await turnIs(page, turnOf(1));
    await press(page, "[");
    await turnIs(page, turnOf(0));
    await press(page, "l");
    await page.getByRole("tab", { name: "Prompt", selected: true }).waitFor();
    await press(page, "h");
    await page.getByRole("tab", { name: "Overview", selected: true }).waitFor();
    await press(page, "End");
    await page.waitForURL(/[?&]turn=\d+/);
    await press(page, "d");
    await page.getByRole("tab", { name: "Artifacts", selected: true }).waitFor();
    await press(page, "y");
    const link = () => page.evaluate("navigator.clipboard.readText()");
    await expect.poll(link).toBe(page.url());
    await press(page, ".");
    await page.getByRole("button", { name: "Follow", pressed: true }).waitFor();
    await press(page, "Home");
    for (const [key, dialog] of [
      ["f", /^Fork from turn/],
      ["c", /^Compare /],
      ["?", "Keys"],
    ] as const) {
      await press(page, key);
      await page.getByRole("dialog", { name: dialog }).waitFor();
      // Keys of the page mean nothing behind a dialog.
      await press(page, "j", "Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    // Two keys belong together when they come soon after each other, which a busy machine may fail to do.
    for (const [key, path] of [
      ["p", /^\/p\//],
      ["i", /^\/inbox$/],
      ["r", /^\/$/],
    ] as const)
      await expect
        .poll(async () => {
          await press(page, "g", key);
          return new URL(page.url()).pathname;
        })
        .toMatch(path);
    await page.getByLabel("Search runs").waitFor();
    await press(page, "/", "x", "j");
    await expect.poll(() => page.getByLabel("Search runs").inputValue()).toBe("xj");
  });

  test("every key that works is in the list of keys", async () => {
    const server = await serve();
    const page = await openRun(server, await completed(server));
    await press(page, "?");
    await page.getByRole("dialog").locator("kbd").last().waitFor();
    const listed = (await page.getByRole("dialog").locator("kbd").allInnerTexts()).join(" ").split(/\s+/);
    const keys = ["j", "k", "Home", "End", "h", "l", "[", "]", "/", "g", "r", "i", "p", "f", "d", "c"];
    expect(new Set(listed)).toEqual(new Set([...keys, "a", "x", ".", "y", "?"]));
  });

  test("letters are no commands once they are switched off, and others still are", async () => {
    const server = await serve();
    const run = await completed(server);
    const { page } = await openPage(`${server.url}/settings`);
    await page.getByLabel("single letters are commands").uncheck();
    await page.goto(`${server.url}/r/${run}?turn=2`);
    await turnIs(page, 2);
    await press(page, "j", "f", "l", "g", "i", "?");
    await press(page, "Home");
    await turnIs(page, 1);
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await expect.poll(() => page.getByRole("tab", { name: "Overview", selected: true }).count()).toBe(1);
  });

  test("everything on a run's page is reached by Tab, and nothing holds the focus", async () => {
    const server = await serve();
    const page = await openRun(server, await completed(server));
    for (const name of ["Whole graph", "Export as test", "Fork from here"])
      await page.getByRole("button", { name }).waitFor();
    const seen = new Set<string>();
    await page.evaluate("document.body.focus()");
    for (let step = 0; step < 90; step++) {
      await press(page, "Tab");
      const here = await page.evaluate(
        "(() => { const e = document.activeElement; return e.tagName === 'BODY' ? '' : (e.getAttribute('aria-label') ?? e.textContent ?? '').trim().slice(0, 30); })()",
      );
      if (here === "") break;
      seen.add(String(here));
    }
    for (const name of [
      "Fork from here",
      "Turn",
      "Follow",
      "Visits",
      "Export as test",
      "Whole graph",
      "Overview",
    ])
      expect(seen).toContain(name);
  });

  test("changes are told politely, and not more often than once a second", async () => {
    const server = await serve();
    const run = await waiting(server);
    const { page, context } = await openPage(`${server.url}/r/${run}`);
    await page.getByText("live").waitFor();
    const region = page.locator(".unseen[aria-live=polite]");
    await expect.poll(() => region.textContent()).toBe("waiting in gate");
    await page.evaluate(`(() => {
      window.told = [];
      const region = [...document.querySelectorAll(".unseen[aria-live=polite]")].at(-1);
      new MutationObserver(() => window.told.push(performance.now())).observe(region, { subtree: true, characterData: true, childList: true });
    })()`);
    for (let time = 0; time < 3; time++)
      await server
        .post(`/api/runs/${run}/events`, { name: "No", by: `person ${time}` })
        .then(() => server.until(run, ({ status }) => status === "waiting" || status === "budget_exhausted"));
    await server.post(`/api/runs/${run}/events`, { name: "Yes", by: "alice" });
    await expect.poll(() => region.textContent()).toBe("completed in end");
    const told = (await page.evaluate("window.told")) as readonly number[];
    for (const [index, at] of told.slice(1).entries()) expect(at - (told[index] ?? 0)).toBeGreaterThan(900);
    await context.close();
  });

  test("nothing moves for those who asked for less motion", async () => {
    const server = await serve();
    const { page } = await openPage(server.url);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.route("**/api/runs?*", () => undefined);
    await page.reload();
    await page.locator(".bone").first().waitFor();
    const animation = "getComputedStyle(document.querySelector('.bone')).animationName";
    await expect.poll(() => page.evaluate(animation)).toBe("none");
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await expect.poll(() => page.evaluate(animation)).not.toBe("none");
  });
});
