// Values in the page, in a real browser on a real server: what changed between two turns, and content that was
// made to break whoever shows it.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { changedWorlds } from "../server/changed-worlds.ts";
import { commits, committing, committingTools, hasGit } from "../server/committing-pack.ts";
import { pack, start } from "../server/sample-pack.ts";
import { type Served, served, temporaryFolder } from "../server/served.ts";
import { startedRun } from "../server/started-run.ts";
import { closeBrowser, hasBrowser, openPage, violations } from "./browser.ts";
import { builtPage } from "./built-page.ts";

afterAll(closeBrowser);

const serve = async (options: Parameters<typeof served>[0] = {}): Promise<Served> =>
  served({ webFolder: await builtPage(), ...options });

describe.skipIf(!hasBrowser)("in a browser: what changed", () => {
  const artifacts = `note: { type: text/plain, mode: append }, plan: { type: text/markdown }, data: { type: application/json }`;
  const people = (ages: readonly number[]): Json => ages.map((age, id) => ({ id: `p${id}`, age }));

  test("text by lines, JSON by keys and items, Markdown as it is meant, between any two turns", async () => {
    const server = await serve();
    const script: JsonObject = {
      states: {
        work: [
          {
            artifacts: {
              note: "one",
              plan: "# Plan\n\n- <b>first</b>",
              data: { people: people([1, 2, 3]), z: 1, a: [1, 2] },
            },
            event: "Again",
          },
          {
            artifacts: {
              note: "two",
              plan: "# Plan\n\n- second",
              data: { a: [0, 1, 2], z: 1, people: people([1, 5, 3]) },
            },
            event: "Done",
          },
        ],
        end: [{ text: "Goodbye." }],
      },
    };
    const source = pack.replace("note: { type: text/plain }, data: { type: application/json }", artifacts);
    const run = await startedRun(server, { ...start(script), pack: source });
    await server.until(run, ({ status }) => status === "completed");
    const { page } = await openPage(`${server.url}/r/${run}?tab=artifacts`);
    const card = (name: string) =>
      page.locator(".artifact-card").filter({ has: page.getByRole("heading", { name }) });
    await card("plan").locator(".md-heading").getByText("Plan").waitFor();
    await card("plan").getByRole("button", { name: "Source" }).click();
    await card("plan").getByText("# Plan").waitFor();
    await card("data").getByRole("button", { name: "Diff" }).click();
    const changes = page.getByLabel("Changes");
    // The order of keys is no change, and neither is an item that only moved down.
    await changes.getByText("p1", { exact: false }).waitFor({ state: "detached" });
    await changes.getByText("age: ").first().waitFor();
    const lines = () => changes.locator(".diff-line").allInnerTexts();
    await expect
      .poll(async () => (await lines()).map((line) => line.replaceAll(/\s+/g, " ").trim()))
      .toEqual(["+0: 0", "−age: 2", "+age: 5"]);
    await changes.getByText("2 as before").first().waitFor();
    await card("note").getByRole("button", { name: "Diff" }).click();
    await card("note").getByText("Only added to").waitFor();
    await expect
      .poll(() => changes.locator(".diff-line.added").allInnerTexts())
      .toEqual([expect.stringContaining("two")]);
    await page.getByLabel(/since turn/).fill("0");
    await page.waitForURL(/since=0/);
    await page.reload();
    await changes.locator(".diff-line.added").nth(1).waitFor();
  });
});

describe.skipIf(!hasBrowser)("in a browser: long values", () => {
  test("what was loaded at one turn is not shown at another", async () => {
    const server = await serve();
    const long = (word: string): string => `${"so ".repeat(30_000)}${word}`;
    const script: JsonObject = {
      states: {
        work: [
          { text: long("first"), event: "Again" },
          { text: long("other"), event: "Done" },
        ],
        end: [{ text: "Goodbye." }],
      },
    };
    const run = await startedRun(server, start(script));
    await server.until(run, ({ status }) => status === "completed");
    const { page } = await openPage(`${server.url}/r/${run}?tab=facts&turn=2`);
    const load = page.getByRole("button", { name: "Load", exact: true });
    const facts = page.getByRole("region", { name: "Facts" });
    for (const [turn, word] of [
      [2, "so first"],
      [3, "so other"],
    ] as const) {
      await page.getByRole("heading", { name: `Facts of turn ${turn}` }).waitFor();
      await load.click();
      await facts.getByText(word).waitFor();
      await page.keyboard.press("j");
    }
  });
});

describe.skipIf(!hasBrowser || !hasGit)("in a browser: commits", () => {
  test("a commit that an artifact points to opens with what it changed", async () => {
    const folder = temporaryFolder();
    const settings = { ...noSettings(folder), tools: committingTools };
    const server = await serve({ folder, settings });
    const run = await startedRun(server, { ...start(commits), pack: committing });
    await server.until(run, ({ status }) => status === "completed");
    const { page } = await openPage(`${server.url}/r/${run}?tab=artifacts`, { expected: /404/ });
    await page.getByRole("button", { name: "Commit", exact: true }).click();
    const shown = page.getByRole("region", { name: "Commit of data" });
    await shown.getByText("+hello").waitFor();
    await page.getByText("Say hello").waitFor();
    await page.waitForURL(/[?&]commit=data\b/);
    expect(await violations(page)).toEqual([]);
    // The folder is gone, the run is not.
    rmSync(join(folder, "work"), { recursive: true });
    await page.reload();
    await page.getByText("the folder that the run worked in is gone").waitFor();
  });
});

describe.skipIf(!hasBrowser)("in a browser: hostile content", () => {
  const bad = `<img src=x onerror="window.bad=1"><script>window.bad=1</script>\u202e\u0007[x](javascript:alert(1))`;
  const deep = (levels: number): Json => {
    let value: Json = bad;
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { in: value } : [value];
    return value;
  };

  async function harmless(page: Page): Promise<void> {
    expect(await page.evaluate("window.bad")).toBeUndefined();
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
    const text = await page.locator("body").innerText();
    expect(["\u202e", "\u0007"].filter((hidden) => text.includes(hidden))).toEqual([]);
  }

  test("is text in every tab, and breaks nothing", async () => {
    const odd = JSON.parse(`{"__proto__": {"x": 1}, "constructor": ${JSON.stringify(bad)}}`) as JsonObject;
    const huge = `${bad}${"y".repeat(5_000_000)}`;
    // Through the API nothing so deep or large comes in; a model and a tool can say it.
    const swapped = (value: Json): Json =>
      JSON.parse(JSON.stringify(value), (_key, item: Json) =>
        item === "HUGE" ? huge : item === "DEEP" ? deep(1_000) : item === "ODD" ? odd : item,
      ) as Json;
    const server = await serve(
      changedWorlds(({ model }) => ({
        model: {
          call: async (request, context) =>
            swapped((await model.call(request, context)) as unknown as Json) as unknown as Awaited<
              ReturnType<typeof model.call>
            >,
        },
        tools: {
          knows: () => true,
          isSafe: () => true,
          call: async () => ({ ok: true, value: { odd, huge, deep: deep(1_000) } }),
        },
      })),
    );
    const script: JsonObject = {
      states: {
        work: [
          { text: "HUGE", calls: [{ tool: "look", args: { odd: "ODD", where: "DEEP" } }] },
          { text: bad, artifacts: { note: bad, data: "ODD" }, event: "Again", context: bad },
          { text: bad, artifacts: { note: `${bad}!`, data: "DEEP" }, event: "Ask", context: bad },
        ],
        gate: [{ text: bad }],
        end: [{ text: bad }],
      },
    };
    const source = pack.replace(
      "{ type: object, properties: { where: { type: string } }, required: [where] }",
      "{ type: object, properties: { odd: { description: anything } } }",
    );
    const body = { ...start(script, { variables: { task: bad }, input: bad }), pack: source };
    const run = await startedRun(server, body);
    await server.until(run, ({ status }) => status === "waiting");
    const { page } = await openPage(`${server.url}/r/${run}`);
    const shown = page.getByRole("tabpanel");
    await shown.getByText("onerror").first().waitFor();
    for (const [turn, tabs] of [
      [2, ["Messages", "Tools", "Raw", "Facts"]],
      [5, ["Overview", "Prompt", "Messages", "Artifacts", "Raw", "Facts"]],
    ] as const) {
      await page.keyboard.press("Home");
      for (let at = 1; at < turn; at++) await page.keyboard.press("j");
      await page.getByText(`turn ${turn} of`).waitFor();
      for (const tab of tabs) {
        await page.getByRole("tab", { name: tab, exact: true }).click();
        await shown.getByText("onerror").first().waitFor();
      }
    }
    await harmless(page);
    await page.keyboard.press("d");
    await page.getByLabel("Changes").first().getByText("onerror").first().waitFor();
    await page.keyboard.press("k");
    await page.keyboard.press("k");
    await page.getByRole("tab", { name: "Tools" }).click();
    const load = shown.getByRole("button", { name: "Load", exact: true });
    await load.first().waitFor();
    const before = await load.count();
    await load.first().click();
    await load.nth(before - 1).waitFor({ state: "detached" });
    await harmless(page);
    await page.goto(`${server.url}/inbox`);
    await page.getByRole("article").getByText("onerror").first().waitFor();
    await harmless(page);
  });

  test("is text in names of packs, states, tools, artifacts and events, and in questions", async () => {
    const folder = temporaryFolder();
    const name = `<img src=x onerror='window.bad=1'> a/b?c#d`;
    const [quoted, written] = [JSON.stringify(name), JSON.stringify(bad)];
    const schema = {
      type: "object",
      properties: { [name]: { type: "string", title: bad, description: bad } },
    };
    const tools = { [name]: { builtin: "human", question: bad, schema } };
    const spec = `{ name: ${quoted}, description: ${written}, parameters: { type: object, properties: {} } }`;
    const source = pack
      .replace("name: Served", `name: ${written}`)
      .replace("Yes:", `${quoted}:`)
      .replace("    gate: {", `    ${quoted}: {`)
      .replace("Ask: gate", `Ask: ${quoted}`)
      .replace("artifacts: { note:", `artifacts: { ${quoted}: { type: text/plain }, note:`)
      .replace("tools: [look]", `tools: [look, ${quoted}]`)
      .replace("tools:\n  look:", `tools:\n  ${quoted}: ${spec}\n  look:`);
    const server = await serve({ folder, settings: { ...noSettings(folder), tools } });
    const script: JsonObject = {
      states: {
        work: [
          { calls: [{ tool: name, args: {} }] },
          { artifacts: { [name]: "seen" }, event: "Ask", context: bad },
        ],
        [name]: [{ text: bad }],
      },
    };
    const run = await startedRun(server, { ...start(script), pack: source });
    await server.until(run, ({ status }) => status === "waiting");
    const { page } = await openPage(`${server.url}/inbox`);
    await page.getByRole("article").getByText("onerror").first().waitFor();
    await harmless(page);
    await page.getByRole("textbox").fill("an answer");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await server.until(run, ({ state }) => state === name);
    const { body } = await server.get(`/api/runs/${run}`);
    const { digest } = body["pack"] as { digest: string };
    for (const path of [
      `/r/${run}`,
      `/r/${run}?graph=table`,
      `/r/${run}?tab=artifacts&diff=${encodeURIComponent(name)}`,
      `/r/${run}?turn=3&tab=tools`,
      `/p/${encodeURIComponent(digest)}`,
      `/inbox`,
      `/?text=${encodeURIComponent(bad)}`,
    ]) {
      await page.goto(`${server.url}${path}`);
      const shown = page.getByText("onerror").or(page.getByText("No run fits"));
      await shown.filter({ visible: true }).first().waitFor();
      await harmless(page);
    }
  });

  test("runs whose name holds slashes, and addresses that lead nowhere, are told apart", async () => {
    const server = await serve();
    const { page } = await openPage(`${server.url}/r/r_none%2F1%2F2`, { expected: /404/ });
    await page.getByText("does not exist").waitFor();
    await page.goto(`${server.url}/r/%3Cscript%3E`);
    await page
      .getByText(/does not exist|not/)
      .first()
      .waitFor();
    await page.goto(`${server.url}/r/%ff`);
    await page.getByRole("alert").first().waitFor();
    await harmless(page);
  });
});
