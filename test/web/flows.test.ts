// What people do with the page, done in a real browser on a real server and store.

import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import type { Summary } from "../../src/core/summary.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { TokenFile } from "../../src/server/tokens.ts";
import { asks, ends, pack, start } from "../server/sample-pack.ts";
import { type Served, served, temporaryFolder } from "../server/served.ts";
import { completed, startedRun, waiting } from "../server/started-run.ts";
import { closeBrowser, hasBrowser, isNotTooWide, openPage } from "./browser.ts";
import { builtPage } from "./built-page.ts";

afterAll(closeBrowser);

const serve = async (options: Parameters<typeof served>[0] = {}): Promise<Served> =>
  served({ webFolder: await builtPage(), ...options });

const summaryOf = async (server: Served, run: string): Promise<Summary> =>
  (await server.get(`/api/runs/${encodeURIComponent(run)}`)).body as unknown as Summary;

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });

describe.skipIf(!hasBrowser)("in a browser: flows", () => {
  test("an event is sent from a phone's screen, and the card says so", async () => {
    const server = await serve();
    const run = await waiting(server);
    const { page } = await openPage(`${server.url}/inbox`, { width: 360, height: 740 });
    await button(page, "Yes").click();
    await page.getByLabel(/Context of Yes/).fill("looks right");
    await button(page, "Send Yes").click();
    await page.getByText(/sent Yes/).waitFor();
    const summary = await server.until(run, ({ status }) => status === "completed");
    expect(summary.state).toBe("end");
    await isNotTooWide(page);
  });

  test("a card that came too late changes nothing and says why", async () => {
    const server = await serve();
    const run = await waiting(server);
    const { page } = await openPage(`${server.url}/inbox`, { expected: /409|412/ });
    await button(page, "Yes").click();
    // Meanwhile somebody else decides, and the page has not heard of it yet.
    await page.route("**/events", async (route) => {
      await server.post(`/api/runs/${run}/events`, { name: "No", by: "bob" });
      await route.continue();
    });
    await button(page, "Send Yes").click();
    await page
      .getByText(/moved on/)
      .first()
      .waitFor();
    const { body } = await server.get(`/api/runs/${run}/turns`);
    expect(JSON.stringify(body)).not.toContain('"event":"Yes"');
  });

  test("every part goes back to a turn, and the address brings it back", async () => {
    const server = await serve();
    const run = await completed(server);
    const { page } = await openPage(`${server.url}/r/${run}`);
    await page.getByText("The model said").waitFor();
    await page.keyboard.press("Home");
    await page.getByText("turn 1 of").waitFor();
    await page.keyboard.press("j");
    await page.getByText("turn 2 of").waitFor();
    await page.waitForURL(/[?&]turn=2\b/);
    await page.getByRole("tab", { name: "Artifacts" }).click();
    await page.getByText("one", { exact: true }).first().waitFor();
    await page.reload();
    await page.getByText("turn 2 of").waitFor();
    await page.getByText("one", { exact: true }).first().waitFor();
    const { used } = (await server.get(`/api/runs/${run}?at=2`)).body as unknown as Summary;
    const shown = page.getByText("visits", { exact: true }).locator("..");
    await expect.poll(() => shown.innerText()).toContain(String(used.visits));
    await expect.poll(() => page.getByRole("row", { selected: false }).count()).toBeGreaterThan(0);
    await expect.poll(() => page.locator(".trace-row.later").count()).toBe(1);
  });

  test("a fork with another artifact runs, and is compared with what it came from", async () => {
    const server = await serve();
    const run = await waiting(server);
    const before = (await server.get(`/api/runs/${run}/turns`)).body;
    const { page } = await openPage(`${server.url}/r/${run}`);
    await page.getByText("Waits for an event").first().waitFor();
    await page.keyboard.press("f");
    await button(page, "Edit, then run").click();
    await button(page, "Add an edit").click();
    await page.getByLabel("Which artifact").selectOption("note");
    await page.getByLabel("Value").fill("looked at twice");
    await button(page, "Preview").click();
    await page.getByText(/It begins in/).waitFor();
    await button(page, "Fork and run").click();
    await page.getByText(`${run}@`).waitFor();
    const forked = decodeURIComponent(new URL(page.url()).pathname.split("/")[2] ?? "");
    expect(forked).not.toBe(run);
    expect((await server.get(`/api/runs/${forked}/artifacts`)).body["artifacts"]).toMatchObject({
      note: "looked at twice",
    });
    expect((await server.get(`/api/runs/${run}/turns`)).body).toEqual(before);
    await page.goto(`${server.url}/compare/${run}/${forked}`);
    await page.getByText("They part in").waitFor();
    await button(page, "artifacts.note").first().click();
    await page.getByLabel("Changes").getByText("looked at twice").waitFor();
  });

  test("a run that moves is followed, and a server that comes back is found again", async () => {
    const folder = temporaryFolder();
    const first = await serve({ folder });
    const run = await waiting(first);
    const port = Number(new URL(first.url).port);
    const { page } = await openPage(`${first.url}/r/${run}`, {
      expected: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|Failed to load|503/,
    });
    await page.getByText("live").waitFor();
    await first.stop();
    await page.getByText("connection lost").waitFor();
    const second = await serve({ folder, port });
    await page.getByText("connection lost").waitFor({ state: "detached" });
    await second.post(`/api/runs/${run}/events`, { name: "Yes", by: "alice" });
    await page.locator(".run-title").getByText("completed").waitFor();
    const { turns } = await summaryOf(second, run);
    await page.getByText(`of ${turns}`).first().waitFor();
    await expect.poll(() => page.locator(".trace-body .trace-row").count()).toBe(3);
  });

  test("a call is approved by its hash, after a second question", async () => {
    const folder = temporaryFolder();
    const server = await serve({ folder, settings: { ...noSettings(folder), approvals: ["look"] } });
    const run = await startedRun(server, start(asks));
    const { waiting_for: waits } = await server.until(run, ({ status }) => status === "waiting");
    const { page } = await openPage(`${server.url}/inbox`);
    await page.getByText(waits[0]?.sha256 ?? "no hash").waitFor();
    await page.keyboard.press("a");
    await page.getByText("with exactly these arguments?").waitFor();
    await page.keyboard.press("Enter");
    await page
      .getByText(/approved/)
      .first()
      .waitFor();
    const summary = await server.until(run, ({ state }) => state === "gate");
    expect(summary.used.tool_calls).toBe(1);
  });

  test("an old run shows the pack that it ran with", async () => {
    const server = await serve();
    const run = await completed(server);
    await server.post("/api/packs", { source: pack.replace("Do {{task}}.", "Do it well: {{task}}.") });
    const { page } = await openPage(`${server.url}/r/${run}?turn=2&tab=prompt`);
    await page.getByRole("region", { name: "Prompt" }).getByText("Do ").first().waitFor();
    await expect
      .poll(() => page.getByRole("region", { name: "Prompt" }).innerText())
      .not.toContain("Do it well");
  });

  test("with a token the page asks for it, and changes things with its cookie and key only", async () => {
    const folder = temporaryFolder();
    const tokens = new TokenFile(`${folder}/tokens.json`);
    const principal = { name: "alice", scopes: ["admin"] as const };
    const server = await serve({
      tokens,
      tokenNeeded: true,
      principalOf: (token) => (token === "right" ? principal : undefined),
    });
    const authorization = { authorization: "Bearer right" };
    const { body } = await server.post("/api/runs", start(asks), authorization);
    const run = String(body["run"]);
    const { page, context } = await openPage(`${server.url}/r/${run}`, { expected: /401/ });
    await page.getByLabel("Token").fill("wrong");
    await button(page, "Sign in").click();
    await page.getByText("the token is not known here").waitFor();
    await page.getByLabel("Token").fill("right");
    await button(page, "Sign in").click();
    await page.getByText("Waits for an event").first().waitFor();
    await button(page, "Yes").click();
    await button(page, "Send Yes").click();
    await page.locator(".run-title").getByText("completed").waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    const cookies = { cookie: `${cookie?.name}=${cookie?.value}` };
    expect((await server.get("/api/runs", cookies)).status).toBe(200);
    expect((await server.post(`/api/runs/${run}/cancel`, {}, cookies)).status).toBe(403);
    expect((await server.get("/api/runs")).status).toBe(401);
  });

  test("runs are found by what stands in the address", async () => {
    const server = await serve();
    const [done, open] = [await completed(server), await waiting(server)];
    const { page } = await openPage(`${server.url}/?status=waiting`);
    await page.getByText(open).waitFor();
    await expect.poll(() => page.getByText(done).count()).toBe(0);
    await page.keyboard.press("/");
    await page.keyboard.type("nothing");
    await page.getByText("No run fits").waitFor();
    await page.waitForURL(/[?&]text=nothing\b/);
    // A run that somebody starts appears by itself.
    await page.goto(server.url);
    await page.getByText(done).waitFor();
    const third = await startedRun(server, start(ends));
    await page.getByText(third).waitFor();
  });
});
