// A long run in a real browser, whose journal never comes: the page shows any turn and any row all the same.

import { afterAll, describe, expect, test } from "vitest";
import { longRun } from "../../bench/web-journal.ts";
import { served } from "../server/served.ts";
import { closeBrowser, hasBrowser, openPage } from "./browser.ts";
import { builtPage } from "./built-page.ts";

afterAll(closeBrowser);

describe.skipIf(!hasBrowser)("in a browser: a long run", () => {
  test("any turn and any row is shown before the journal is read", async () => {
    const server = await served({ webFolder: await builtPage() });
    await longRun(server.store, { run: "r", turns: 3_000 });
    const { page, context } = await openPage(`${server.url}/settings`);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await context.route("**/turns?*", () => new Promise(() => undefined));
    await page.goto(`${server.url}/r/r?turn=1700`);
    const selected = page.locator(".turn-list .selected .turn-number");
    await selected.getByText("1700", { exact: true }).waitFor();
    const row = page.locator(".trace-row.selected");
    await row.waitFor();
    const rows = (await server.get("/api/runs/r/trace?limit=10000")).body as unknown as { turn: number }[];
    const expected = rows.findLastIndex(({ turn }) => turn <= 1_700);
    await expect.poll(async () => Number(await row.getAttribute("aria-rowindex")) - 2).toBe(expected);
    // Steps around it are there; another part of the run is one more request.
    await page.keyboard.press("j");
    await selected.getByText("1701", { exact: true }).waitFor();
    expect(asked.filter((path) => path.endsWith("/snapshot"))).toHaveLength(1);
    await page.keyboard.press("Home");
    await selected.getByText("1", { exact: true }).waitFor();
    expect(asked.filter((path) => path.endsWith("/snapshot"))).toHaveLength(2);
    // Rows of the middle come when they are looked at.
    await page.evaluate(
      '((table) => { table.scrollTop = table.scrollHeight / 2; })(document.querySelector(".trace"))',
    );
    const middle = Math.floor(rows.length / 2);
    await page.locator(`.trace-row[aria-rowindex="${middle + 3}"]:not(.waiting-row)`).waitFor();
    expect(asked).toContain("/api/runs/r/trace");
    await expect.poll(() => page.getByText(/reading 0/).count()).toBe(1);
  });
});
