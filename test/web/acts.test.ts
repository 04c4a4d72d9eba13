// What people decide in the page, in a real browser on a real server: approvals with all that is known of the
// call, calls in doubt, questions with forms, agents' questions, and forks.

import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { canonical, type Json, type JsonObject } from "../../src/base/json.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import { Fault } from "../../src/engine/ports.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { changedWorlds } from "../server/changed-worlds.ts";
import { asks, pack, start } from "../server/sample-pack.ts";
import { type Served, served, temporaryFolder } from "../server/served.ts";
import { completed, startedRun, waiting } from "../server/started-run.ts";
import { closeBrowser, hasBrowser, isNotTooWide, openPage } from "./browser.ts";
import { builtPage } from "./built-page.ts";

afterAll(closeBrowser);

const serve = async (options: Parameters<typeof served>[0] = {}): Promise<Served> =>
  served({ webFolder: await builtPage(), ...options });

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });

/** Answers of the model alone: what it calls is real. */
const { tools: _tools, ...unscripted } = asks;

/** A server on which `look` is bound to this. */
async function withLook(binding: JsonObject): Promise<{ server: Served; run: string }> {
  const folder = temporaryFolder();
  const server = await serve({ folder, settings: { ...noSettings(folder), tools: { look: binding } } });
  const run = await startedRun(server, start(unscripted));
  await server.until(run, ({ status }) => status === "waiting");
  return { server, run };
}

const echo = [
  process.execPath,
  "-e",
  "process.stdin.on('data', (d) => console.log(JSON.stringify({ ok: JSON.parse(d).args })))",
];
const destructive = { exec: echo, tier: "destructive", rollback: "Switch the light off again." };

const rowsOf = (server: Served, run: string): Promise<readonly TurnRow[]> =>
  server.store.rows(run, { from: 1, to: 1_000, limit: 1_000 });

const journalHash = async (server: Served, run: string): Promise<string> =>
  createHash("sha256")
    .update(JSON.stringify(await rowsOf(server, run)))
    .digest("hex");

const hashOf = (value: Json): string => createHash("sha256").update(canonical(value)).digest("hex");

/** The arguments that were performed, in the journal's words. */
async function performed(server: Served, run: string): Promise<readonly Json[]> {
  const facts = (await rowsOf(server, run)).flatMap((row) => row.facts);
  return facts.flatMap((fact) => (fact.type === "asked" && fact.ask.kind === "tool" ? [fact.ask.args] : []));
}

describe.skipIf(!hasBrowser)("in a browser: decisions", () => {
  test("a destructive call says what it can do, is asked about twice, and runs with the approved hash", async () => {
    const { server, run } = await withLook(destructive);
    const { page } = await openPage(`${server.url}/inbox`, { width: 360, height: 740 });
    const card = page.getByRole("article", { name: /look/ });
    for (const text of ["destructive", "not idempotent", "Switch the light off again.", /until \d{4}-/])
      await card.getByText(text).waitFor();
    await card.getByText(hashOf({ where: "here" })).waitFor();
    await isNotTooWide(page);
    await button(page, "Approve").click();
    await page.getByLabel("Comment, kept in the journal").fill("seen by two");
    await button(page, "Approve").click();
    await page.getByText("cannot simply be taken back").waitFor();
    expect(await performed(server, run)).toEqual([]);
    // Whoever only presses Enter goes back.
    await page.keyboard.press("Enter");
    await button(page, "Approve").click();
    await page.getByLabel("Comment, kept in the journal").fill("seen by two");
    await button(page, "Approve").click();
    await button(page, "Yes, run it").click();
    await card.getByText(/✓ approved/).waitFor();
    await isNotTooWide(page);
    await server.until(run, ({ state }) => state === "gate");
    expect(await performed(server, run)).toEqual([{ where: "here" }]);
    expect(JSON.stringify(await rowsOf(server, run))).toContain('"comment":"seen by two"');
  });

  test("changed arguments are shown beside the first ones, and only they run", async () => {
    const { server, run } = await withLook({ ...destructive, tier: "write", approval: "gate" });
    const { page } = await openPage(`${server.url}/r/${run}`);
    await button(page, "Change arguments").click();
    await page.getByLabel("Arguments, as JSON").fill('{"where": ');
    await page.getByText("this is not JSON").waitFor();
    await page.getByLabel("Arguments, as JSON").fill('{"where": "there"}');
    const changes = page.getByLabel("Changes");
    await changes.getByText('"there"').waitFor();
    await changes.getByText('"here"').waitFor();
    await button(page, "Ask again with these").click();
    await page.getByText("Changed by a person since the model asked").waitFor();
    await page.getByText(hashOf({ where: "there" })).waitFor();
    expect(await performed(server, run)).toEqual([]);
    await button(page, "Approve").click();
    await button(page, "Approve").click();
    await server.until(run, ({ state }) => state === "gate");
    expect(await performed(server, run)).toEqual([{ where: "there" }]);
  });

  test("a card that somebody else decides meanwhile closes by itself", async () => {
    const { server, run } = await withLook(destructive);
    const { page } = await openPage(`${server.url}/inbox`);
    await button(page, "Approve").waitFor();
    const { waiting_for: waits } = await server.until(run, () => true);
    await server.post(`/api/runs/${run}/approvals/${waits[0]?.step}`, { decision: "reject", by: "bob" });
    await page.getByText("It waits no longer").waitFor();
    await expect.poll(() => button(page, "Approve").count()).toBe(0);
  });

  test("what does not fit on the first page is shown on demand, and stays while things move", async () => {
    const server = await serve();
    const runs = [await waiting(server), await waiting(server), await waiting(server)];
    const { page } = await openPage(`${server.url}/settings`);
    await page.route("**/api/inbox*", (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set("limit", "1");
      return route.continue({ url: url.href });
    });
    await page.goto(`${server.url}/inbox`);
    const cards = page.getByRole("article");
    await page.getByText("1 or more waiting").waitFor();
    await expect.poll(() => cards.count()).toBe(1);
    await button(page, "Show more").click();
    await expect.poll(() => cards.count()).toBe(2);
    await button(page, "Show more").click();
    await expect.poll(() => cards.count()).toBe(3);
    await button(page, "Show more").waitFor({ state: "detached" });
    await page.getByText("3 waiting").waitFor();
    await server.post(`/api/runs/${runs[0]}/events`, { name: "Yes", by: "bob" });
    await page.getByText("2 waiting").waitFor();
    await expect.poll(() => button(page, "Yes").count()).toBe(2);
  });

  test("a call in doubt is made again, answered, or ends the run", async () => {
    let calls = 0;
    const lost = async () => {
      calls++;
      if (calls === 2) return { ok: true as const, value: "bright" };
      throw new Fault("cut", "the line was cut", { retry: "unknown" });
    };
    const tools = { knows: () => true, isSafe: () => false, call: lost };
    const server = await serve(changedWorlds((ports) => ({ ...ports, tools })));
    const doubtful = async (): Promise<string> => {
      const run = await startedRun(server, start(asks));
      await server.until(run, ({ status }) => status === "waiting");
      return run;
    };
    const again = await doubtful();
    const { page } = await openPage(`${server.url}/inbox`);
    await page.getByText("It may have been made or not").waitFor();
    await button(page, "Make the call again").click();
    await button(page, "Make it again").click();
    await page.getByText(/is made again/).waitFor();
    await server.until(again, ({ state }) => state === "gate");
    expect(calls).toBe(2);
    const supplied = await doubtful();
    await page.goto(`${server.url}/r/${supplied}`);
    await button(page, "Supply the result").click();
    await page.getByLabel("Result, as text or JSON").fill('{"light": "dim"}');
    await button(page, "Supply").click();
    await server.until(supplied, ({ state }) => state === "gate");
    expect(JSON.stringify(await rowsOf(server, supplied))).toContain('"value":{"light":"dim"}');
    const given = await doubtful();
    await page.goto(`${server.url}/r/${given}`);
    await button(page, "Abort the run").click();
    await button(page, "Abort").click();
    await server.until(given, ({ status }) => status === "failed");
  });

  test("a question is a form of its schema, and an answer that does not fit is asked for again", async () => {
    const schema = {
      type: "object",
      required: ["room", "watts"],
      properties: {
        room: { type: "string", title: "Room", enum: ["hall", "attic"] },
        watts: { type: "integer", title: "Watts", description: "at most 60", maximum: 60 },
        dimmed: { type: "boolean", title: "Dimmed" },
        place: { type: "object", properties: { floor: { type: "number" } } },
        tags: { type: "array", items: { type: "string" } },
      },
    };
    const { server, run } = await withLook({ builtin: "human", question: "Which light?", schema });
    const { page } = await openPage(`${server.url}/inbox`, { width: 360, height: 740 });
    await page.getByText("Which light?").waitFor();
    await button(page, "Answer").click();
    await page.getByText("Room is needed").waitFor();
    const fill = async (watts: string): Promise<void> => {
      await page.getByLabel("Room").selectOption("attic");
      await page.getByLabel("Watts").fill(watts);
      await page.getByLabel("Dimmed").check();
      await page.getByLabel("place floor, if you like").fill("2");
      await page.getByLabel("tags, if you like, as JSON").fill('["a"]');
      await button(page, "Answer").click();
    };
    await isNotTooWide(page);
    await fill("75");
    await page.getByText(/does not fit/).waitFor();
    await fill("40");
    await server.until(run, ({ state }) => state === "gate");
    const answer = { room: "attic", watts: 40, dimmed: true, place: { floor: 2 }, tags: ["a"] };
    expect(JSON.stringify(await rowsOf(server, run))).toContain(JSON.stringify(answer));
  });

  test("what an agent asks is answered in its caller's page", async () => {
    const server = await serve();
    const withAgent = pack
      .replace("tools: [look]", "tools: [look, helper]")
      .replace(
        "  close: {",
        "  helper: { id: helper, name: H, version: 1.0.0, system_template: Help. }\n  close: {",
      )
      .concat("agents: { entry: work, members: { work: {}, helper: { state: gate } } }\n");
    const script = {
      states: {
        work: [{ calls: [{ tool: "helper", args: { query: "help" } }] }, { event: "Done" }],
        gate: [{ text: "Well?" }],
        end: [{ text: "Goodbye." }],
      },
    };
    const run = await startedRun(server, { ...start(script), pack: withAgent });
    await server.until(run, ({ status }) => status === "waiting");
    const { page } = await openPage(`${server.url}/inbox`);
    await page.getByText(`asked for ${run}`).waitFor();
    await page.goto(`${server.url}/r/${run}`);
    const card = page.getByRole("article", { name: /Waits for an event/ });
    await card.getByText(new RegExp(`^${run}/\\d+$`)).waitFor();
    await card.getByRole("button", { name: "Yes" }).click();
    await card.getByRole("button", { name: "Send Yes" }).click();
    await server.until(run, ({ status }) => status === "completed");
  });
});

describe.skipIf(!hasBrowser)("in a browser: forks", () => {
  test("what a fork would call is said before, and the run it comes from keeps every byte", async () => {
    const { server, run } = await withLook({ ...destructive, approval: "auto" });
    const before = await journalHash(server, run);
    const { page } = await openPage(`${server.url}/r/${run}?turn=1`);
    await button(page, "Fork from here").click();
    const plan = page.getByRole("region", { name: "What the fork would do" });
    await plan.getByText("it will call one tool, 1 not idempotent").waitFor();
    await plan.getByText("once (destructive, not idempotent)").waitFor();
    await button(page, "Replay").click();
    await page.getByText("Turns 1 to 1 were decided again").waitFor();
    await button(page, "Run live from here").click();
    await page.getByLabel("begin the budgets anew").check();
    await button(page, "Fork and run").click();
    await page.getByText(`${run}@1`).waitFor();
    const forked = decodeURIComponent(new URL(page.url()).pathname.split("/")[2] ?? "");
    await server.until(forked, ({ status }) => status === "waiting");
    const [first, second] = [await rowsOf(server, run), await rowsOf(server, forked)];
    expect(second[0]).toEqual(first[0]);
    expect(second[1]?.facts[0]).toMatchObject({ type: "forked", from: { run, turn: 1 }, resetBudget: true });
    expect(await journalHash(server, run)).toBe(before);
  });

  test("everything that can be edited goes into the fork", async () => {
    const server = await serve();
    const run = await completed(server);
    const before = await journalHash(server, run);
    const { page } = await openPage(`${server.url}/r/${run}?turn=1`, { expected: /422/ });
    await button(page, "Fork from here").click();
    await button(page, "Edit, then run").click();
    const add = async (kind: string, name: string | undefined, value: string): Promise<void> => {
      await button(page, "Add an edit").click();
      await page.getByLabel("What to change").last().selectOption(kind);
      if (name !== undefined)
        await page
          .getByLabel(/^Which /)
          .last()
          .selectOption(name);
      const field = kind === "model" ? page.getByLabel("Model") : page.getByLabel("Value").last();
      await field.fill(value);
    };
    await add("answer", "1", '{"txt": 1}');
    await button(page, "Preview").click();
    await page.getByText(/is not one of a model/).waitFor();
    await page.getByLabel("Value").fill('{"text": "mine", "event": "Again"}');
    await add("artifact", "note", "edited");
    await add("variable", "task", "that");
    await add("pack", undefined, pack.replace("version: 1.0.0", "version: 2.0.0"));
    await add(
      "script",
      undefined,
      JSON.stringify({ states: { work: [{ event: "Done" }], end: [{ text: "Bye." }] } }),
    );
    await add("model", undefined, "openai/gpt-5");
    await button(page, "Preview").click();
    await page.getByText("It begins in").waitFor();
    await button(page, "Fork and run").click();
    await page.getByText(`${run}@1`).waitFor();
    const forked = decodeURIComponent(new URL(page.url()).pathname.split("/")[2] ?? "");
    const end = await server.until(forked, ({ status }) => status === "completed");
    expect(end).toMatchObject({
      pack: { version: "2.0.0" },
      output: { text: "Bye.", artifacts: { note: "edited" } },
    });
    const record = await server.store.record(forked);
    expect(record?.setup).toMatchObject({ settings: { model: "openai/gpt-5" } });
    const { body } = await server.get(`/api/runs/${forked}/turns`);
    expect(JSON.stringify(body)).toContain('"task":"that"');
    expect(await journalHash(server, run)).toBe(before);
  });

  test("an event is chosen in place of a person", async () => {
    const server = await serve();
    const run = await waiting(server);
    const { page } = await openPage(`${server.url}/r/${run}`);
    await page.getByText("Waits for an event").first().waitFor();
    await button(page, "Fork from here").click();
    await button(page, "Edit, then run").click();
    await button(page, "Add an edit").click();
    await page.getByLabel("What to change").selectOption("event");
    const offered = page.locator("datalist option");
    await offered.nth(1).waitFor({ state: "attached" });
    await expect
      .poll(() => offered.evaluateAll((all) => all.map((one) => one.getAttribute("value"))))
      .toEqual(["Yes", "No"]);
    await page.getByLabel("Event", { exact: true }).fill("Yes");
    await button(page, "Fork and run").click();
    await page.locator(".run-title").getByText("completed").waitFor();
  });
});
