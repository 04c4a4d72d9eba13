// Finding runs and looking at them, in a real browser on a real server: the list, the trace, the graph, budgets,
// agents, comparing, packs, and what is taken from the page elsewhere.

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { longRun } from "../../bench/web-journal.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { tree } from "../agents/tree-pack.ts";
import { packloopAlone } from "../cli/packloop-alone.ts";
import { ends, pack, start } from "../server/sample-pack.ts";
import { type Served, served } from "../server/served.ts";
import { completed, startedRun, waiting } from "../server/started-run.ts";
import { closeBrowser, hasBrowser, openPage, violations } from "./browser.ts";
import { builtPage } from "./built-page.ts";

afterAll(closeBrowser);

const serve = async (options: Parameters<typeof served>[0] = {}): Promise<Served> =>
  served({ webFolder: await builtPage(), ...options });

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });

const cellsOf = (page: Page, row: string | RegExp): Promise<readonly string[]> =>
  page.getByRole("row", { name: row }).first().getByRole("cell").allInnerTexts();

const copied = (page: Page): Promise<string> =>
  page.evaluate("navigator.clipboard.readText()") as Promise<string>;

/** What the command line prints about the server's own store. */
async function printed(server: Served, ...args: readonly string[]): Promise<string> {
  const ran = await packloopAlone([...args, "--store", `${server.folder}/runs.db`], {
    cwd: server.folder,
  });
  if (ran.code !== 0) throw new Error(ran.stderr);
  return ran.stdout;
}

/** Costs something, and is ended by its budget. */
const spends: JsonObject = {
  states: {
    work: [
      {
        artifacts: { note: 'a | b, "c"\nd' },
        event: "Again",
        usage: { input_tokens: 1_000, output_tokens: 234, cost_usd: 0.5 },
      },
    ],
  },
};

async function exhausted(server: Served): Promise<string> {
  const run = await startedRun(server, start(spends, { budgets: { max_total_visits: 4 } }));
  await server.until(run, ({ status }) => status === "budget_exhausted");
  return run;
}

describe.skipIf(!hasBrowser)("in a browser: looking", () => {
  test("runs are found by an expression, a reason, a pack and a time, all in the address", async () => {
    const server = await serve({ store: memoryStore() });
    const [done, spent] = [await completed(server), await exhausted(server)];
    const { page } = await openPage(server.url, { expected: /400/ });
    await page.getByText(done).waitFor();
    const cells = () => cellsOf(page, new RegExp(spent));
    await expect
      .poll(async () => (await cells()).slice(0, 8))
      .toEqual([
        ...[
          expect.stringContaining("budget exhausted"),
          "work",
          expect.stringContaining("served 1.0.0"),
          "max_total_visits",
          "4",
        ],
        ...["4", "4,936", "$2.00"],
      ]);
    const ago = expect.stringMatching(/^(just now|\d+ min ago)$/);
    expect((await cells()).slice(8)).toEqual([ago, ago]);
    await page.getByLabel("Expression").fill("visits>3 and status=budget_exhausted");
    await page.getByText(done).waitFor({ state: "detached" });
    await expect.poll(() => page.getByText(spent).count()).toBe(1);
    await page.waitForURL((url) => url.searchParams.get("where") === "visits>3 and status=budget_exhausted");
    await page.reload();
    await page.getByText(spent).waitFor();
    await expect
      .poll(() => page.getByLabel("Expression").inputValue())
      .toBe("visits>3 and status=budget_exhausted");
    await page.getByLabel("Expression").fill("visit>3");
    await page.getByText("there is no `visit`; did you mean `visits`?, at character 1").waitFor();
    await expect.poll(() => page.getByLabel("Expression").getAttribute("aria-invalid")).toBe("true");
    expect(await violations(page)).toEqual([]);
    await page.goto(server.url);
    await button(page, "max_total_visits").click();
    await page.getByText(done).waitFor({ state: "detached" });
    await page.waitForURL(/[?&]reason=max_total_visits\b/);
    await expect.poll(() => page.getByLabel("Reason").inputValue()).toBe("max_total_visits");
    await page.goto(`${server.url}/?pack=other`);
    await page.getByText("No run fits").waitFor();
    await page.getByRole("link", { name: "Show all runs" }).click();
    await page.getByText(done).waitFor();
    await expect.poll(() => page.getByLabel("Pack").inputValue()).toBe("");
    await page.getByLabel("Changed in").selectOption("the last hour");
    await page.waitForURL(/[?&]since=1h\b/);
    await page.getByText(done).waitFor();
  });

  test("what is copied of the trace is what the command prints, byte for byte", async () => {
    const server = await serve();
    const run = await startedRun(server, start(spends, { budgets: { max_total_visits: 3 } }));
    await server.until(run, ({ status }) => status === "budget_exhausted");
    const { page, context } = await openPage(`${server.url}/r/${run}`);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("table", { name: "Visits" }).waitFor();
    await page.locator("summary", { hasText: "Copy" }).click();
    const formats = { Markdown: "md", CSV: "csv", JSON: "json" };
    const expected = await Promise.all(
      Object.values(formats).map((format) => printed(server, "trace", run, "--format", format)),
    );
    for (const [index, name] of Object.keys(formats).entries()) {
      await button(page, name).click();
      await expect.poll(() => copied(page)).toBe(expected[index]);
      await button(page, name).waitFor();
    }
    expect(expected[1]).toContain('"a | b, ""c""\nd"');
  });

  test("columns are chosen, and the choice stands in the address and in what is copied", async () => {
    const server = await serve();
    const script = {
      states: { work: [{ artifacts: { note: "n", data: { a: 1 } }, event: "Done" }], end: [{ text: "." }] },
    };
    const run = await startedRun(server, start(script));
    await server.until(run, ({ status }) => status === "completed");
    const { page, context } = await openPage(`${server.url}/r/${run}`);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("columnheader", { name: "note" }).waitFor();
    await page.locator("summary", { hasText: "Columns" }).click();
    await page.getByRole("checkbox", { name: "note" }).uncheck();
    await page.getByRole("columnheader", { name: "note" }).waitFor({ state: "detached" });
    await page.waitForURL(/[?&]hide=note\b/);
    await page.getByRole("checkbox", { name: "Tokens" }).uncheck();
    await page.getByRole("checkbox", { name: "Event" }).uncheck();
    await page.waitForURL((url) => url.searchParams.get("hide") === "note,:tokens,:event");
    await page.reload();
    const headers = page.getByRole("table", { name: "Visits" }).getByRole("columnheader");
    await expect.poll(() => headers.allInnerTexts()).toEqual(["Turn", "Transition", "data", "Time", "Calls"]);
    await expect.poll(async () => (await cellsOf(page, /→ end/)).length).toBe(5);
    await page.locator("summary", { hasText: "Copy" }).click();
    const title = await button(page, "Markdown").getAttribute("title");
    expect(title).toBe(`packloop trace ${run} --format md --columns data`);
    await button(page, "Markdown").click();
    const expected = await printed(server, ...(title ?? "").split(" ").slice(1));
    await expect.poll(() => copied(page)).toBe(expected);
  });

  test("the graph is the same however often it is drawn, counts what was taken, and narrows the trace", async () => {
    const server = await serve({ store: memoryStore() });
    const guarded = pack.replace(
      "      prompt_task: work\n",
      "      prompt_task: work\n      max_visits: 2\n      on_max_visits: end\n",
    );
    const script = { states: { work: [{ event: "Again" }], end: [{ text: "." }] } };
    const run = await startedRun(server, { ...start(script), pack: guarded });
    await server.until(run, ({ status }) => status === "completed");
    const { page } = await openPage(`${server.url}/r/${run}`);
    const drawn = async (): Promise<string> => {
      await page.locator(".graph-svg").getByText("2/2").waitFor();
      // How often each way was taken is known when the whole journal is.
      await page.locator(".g-label", { hasText: "×2" }).waitFor();
      return page.locator(".graph-svg").innerHTML();
    };
    const first = await drawn();
    for (let time = 0; time < 3; time++) {
      await page.reload();
      await expect.poll(drawn).toBe(first);
    }
    await button(page, "Way").click();
    await page.getByRole("region", { name: "The way of the run" }).waitFor();
    await button(page, "States").click();
    await expect.poll(drawn).toBe(first);
    await expect.poll(() => page.locator(".g-edge.redirect:not(.unused)").count()).toBe(1);
    await expect
      .poll(() => page.locator(".g-label").filter({ hasText: "Again" }).textContent())
      .toContain("×2");
    await page.locator(".graph-svg").getByRole("button", { name: /^end/ }).click();
    await page.waitForURL(/[?&]state=end\b/);
    await expect.poll(() => page.locator(".trace-body .trace-row").count()).toBe(1);
    await page.getByText("max_visits of work → end").waitFor();
    await button(page, "Table").click();
    await expect
      .poll(() => cellsOf(page, /^work/))
      .toEqual(["2", "2", expect.stringContaining("Again → work")]);
  });

  test("a long way is drawn in windows of 500 visits", async () => {
    const server = await serve({ store: memoryStore() });
    await longRun(server.store, { run: "r_long", turns: 2_100 });
    const { page } = await openPage(`${server.url}/r/r_long?graph=way&turn=30`);
    const names = page.locator(".way-names li");
    await page.getByText(/^visits 1 to 500 of /).waitFor();
    await expect.poll(() => names.count()).toBe(500);
    await page.keyboard.press("End");
    await page.getByText(/^visits (5|1,0)01 to /).waitFor();
    await expect.poll(() => names.count()).toBeLessThanOrEqual(500);
  });

  test("budgets at every turn are those of the fold, and the limit that ended the run is named", async () => {
    const server = await serve({ store: memoryStore() });
    const run = await exhausted(server);
    const { turns } = (await server.get(`/api/runs/${run}`)).body as unknown as Summary;
    const { page } = await openPage(`${server.url}/r/${run}?budgets=open`);
    await page.getByRole("region", { name: "Limits" }).getByText("ended the run").waitFor();
    for (const turn of [turns, 3, 2, 1]) {
      await page.getByRole("slider", { name: "Turn" }).fill(String(turn));
      const { used, visits } = (await server.get(`/api/runs/${run}?at=${turn}`)).body as unknown as Summary;
      await page
        .getByRole("status")
        .or(page.getByText(`turn ${turn} of`))
        .first()
        .waitFor();
      const row = async (name: string) => (await cellsOf(page, new RegExp(`^${name}`)))[0];
      await expect.poll(() => row("tokens in")).toBe(used.input_tokens.toLocaleString("en"));
      await expect.poll(() => row("visits")).toBe(String(used.visits));
      await expect.poll(() => row("model calls")).toBe(String(used.model_calls));
      await expect.poll(() => row("cost")).toBe(used.cost_usd === 0 ? "$0" : `$${used.cost_usd.toFixed(2)}`);
      const state = page.getByRole("region", { name: "Use by state" }).getByRole("row", { name: /^work/ });
      const tokens = (used.input_tokens + used.output_tokens).toLocaleString("en");
      await expect
        .poll(() => state.getByRole("cell").allInnerTexts())
        .toMatchObject([
          String(visits["work"]),
          "20",
          String(used.model_calls),
          String(used.tool_calls),
          tokens,
          expect.anything(),
          expect.anything(),
        ]);
    }
    await page.keyboard.press("End");
    await expect
      .poll(async () => (await cellsOf(page, /^visits/)).slice(0, 4))
      .toEqual(["4", "—", "4", "20"]);
    await expect.poll(() => page.locator(".sparkline").count()).toBeGreaterThan(2);
    expect(await violations(page)).toEqual([]);
  });

  test("agents open in place, three levels deep, and what they cost is in their callers' sums", async () => {
    const server = await serve({ store: memoryStore() });
    const usage = { input_tokens: 100, output_tokens: 0, cost_usd: 1 };
    const script = {
      states: {
        lead: [{ calls: [{ tool: "auditor", args: { query: "first" } }], usage }, { event: "Done" }],
        look: [{ calls: [{ tool: "guard", args: { query: "may we" } }], usage }, { event: "Found" }],
        report: [{ text: "reported" }],
        verdict: [{ text: "it is real", usage }],
      },
      events: { gate: [{ event: "Approved", by: "alice" }] },
    };
    const run = await startedRun(server, { pack: tree, script });
    const { used, used_by_agents: agents } = await server.until(run, ({ status }) => status === "completed");
    const { page } = await openPage(`${server.url}/r/${run}`);
    await button(page, /1 agent$/).click();
    const auditor = `${run}/2`;
    await button(page, `Visits of ${auditor}`).click();
    const guard = `${auditor}/2`;
    await button(page, `Visits of ${guard}`).click();
    const cost = used.cost_usd + (agents?.cost_usd ?? 0);
    expect(cost).toBe(4);
    const link = page.getByRole("link", { name: guard, exact: true });
    await page.locator(".agent-row", { has: link }).getByText("$1.00").waitFor();
    await page.locator(".agent-row", { hasText: "auditor" }).getByText("$3.00").waitFor();
    await expect.poll(() => page.locator(".budget", { hasText: "cost" }).innerText()).toContain("$4.00");
    await page.waitForURL((url) => url.searchParams.get("agents")?.includes(guard) === true);
    await page.reload();
    await page.locator(".agent-row", { hasText: "gate" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await link.click();
    const crumbs = page.getByRole("navigation", { name: "Callers" });
    await crumbs.getByRole("link", { name: "step 2" }).waitFor();
    await crumbs.getByRole("link", { name: run }).click();
    await page.getByRole("heading", { name: run }).waitFor();
  });

  test("two runs are compared with their totals, and the turn before they part is forked", async () => {
    const server = await serve({ store: memoryStore() });
    const other: JsonObject = {
      states: {
        ...(ends["states"] as JsonObject),
        work: [
          { artifacts: { note: "one" }, event: "Again" },
          { artifacts: { note: "three" }, event: "Done" },
        ],
      },
    };
    const a = await completed(server);
    const b = await startedRun(server, start(other));
    await server.until(b, ({ status }) => status === "completed");
    const { page } = await openPage(`${server.url}/compare/${a}/${b}`);
    await page.getByRole("heading", { name: "They part in work (2): artifacts.note" }).waitFor();
    await expect
      .poll(() => cellsOf(page, "Difference"))
      .toEqual(["", "=", "=", "=", "=", "=", "=", expect.anything()]);
    await page.getByRole("link", { name: "Fork from the turn before" }).click();
    const rows = (await server.get(`/api/runs/${a}/trace`)).body as unknown as readonly { turn: number }[];
    await page.getByRole("dialog", { name: `Fork from turn ${rows[1]?.turn}` }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.waitForURL((url) => !url.href.includes("dialog"));
  });

  test("a run is taken as a test, a link and a command", async () => {
    const server = await serve();
    const [run, open] = [await completed(server), await waiting(server)];
    const { page, context } = await openPage(`${server.url}/r/${run}?turn=2&tab=prompt`);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByText("turn 2 of").waitFor();
    await page.getByRole("region", { name: "Prompt" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      button(page, "Export as test").click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${run}.test.json`);
    expect(readFileSync(await download.path(), "utf8")).toBe(await printed(server, "export", run, "--test"));
    await button(page, "Copy link").click();
    await expect.poll(() => copied(page)).toBe(`${server.url}/r/${run}?turn=2&tab=prompt`);
    await button(page, "Copy command").click();
    await expect.poll(() => copied(page)).toMatch(new RegExp(`^packloop step ${run} \\d+ --prompt$`));
    await page.goto(`${server.url}/r/${open}`);
    await page.getByText("Waits for an event").first().waitFor();
    await button(page, "Copy command").click();
    await expect.poll(() => copied(page)).toBe(`packloop show ${open}`);
  });

  test("findings stand in the words of the command, and the run they are about is drawn", async () => {
    const server = await serve();
    const endless = pack
      .replace(
        "      prompt_task: work\n",
        "      prompt_task: work\n      max_visits: 2\n      on_max_visits: gate\n",
      )
      .replace("No: work", "No: work, Back: work");
    const { body } = await server.post("/api/packs", { source: endless });
    const { page } = await openPage(`${server.url}/p/${encodeURIComponent(String(body["digest"]))}`);
    const finding = page.locator(".finding", { hasText: "PP403" });
    await finding.waitFor();
    const { writeFileSync } = await import("node:fs");
    writeFileSync(`${server.folder}/p.yaml`, endless);
    const ran = await packloopAlone(["check", "p.yaml"], { cwd: server.folder });
    const said = ran.stdout.split("\n\n").find((part) => part.includes("PP403")) ?? "";
    const notes = said
      .split("\n")
      .filter((line) => /^ *= /.test(line))
      .map((line) => line.replace(/^ *= /, ""));
    expect(notes.length).toBeGreaterThan(3);
    for (const note of notes) await finding.getByText(note, { exact: true }).waitFor();
    await expect.poll(() => page.locator(".g-edge.on-path").count()).toBeGreaterThan(1);
    await expect.poll(() => page.locator(".g-edge.on-path.redirect").count()).toBe(1);
    await page.locator(".witness").getByText("the shortest such run").waitFor();
  });

  test("no time is negative or not a number, even when the clock goes back", async () => {
    const real = systemClock();
    let back = 0;
    const clock = { ...real, now: () => real.now() - back };
    const server = await serve({ store: memoryStore(), clock });
    const run = await waiting(server);
    back = 3_600_000;
    await server.post(`/api/runs/${run}/events`, { name: "Yes", by: "alice" });
    await server.until(run, ({ status }) => status === "completed");
    const { page } = await openPage(`${server.url}/r/${run}?budgets=open`);
    await page.getByRole("region", { name: "Use by state" }).waitFor();
    for (const key of ["Home", "j", "j", "End"]) {
      await page.keyboard.press(key);
      const text = await page.locator("main").innerText();
      expect(text).not.toMatch(/NaN|Infinity|[-−]\d+ ?(ms|s|m|h|d)\b/);
    }
    await page.goto(server.url);
    await page.getByText(run).waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(/NaN|-\d/);
  });
});
