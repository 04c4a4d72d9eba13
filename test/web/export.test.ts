// A run as one file, opened from a disk by a browser that reaches nothing.

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { runPage } from "../../src/cli/runs/run-page.ts";
import { verifyPage } from "../../src/cli/runs/verify-page.ts";
import { Redaction } from "../../src/engine/redaction.ts";
import { knownRecord } from "../../src/host/stored-runs.ts";
import { ends, pack, start } from "../server/sample-pack.ts";
import { type Served, served } from "../server/served.ts";
import { startedRun } from "../server/started-run.ts";
import { closeBrowser, hasBrowser, openPage, violations } from "./browser.ts";
import { builtExport } from "./built-page.ts";

afterAll(closeBrowser);

/** Has the form of a key that an issuer gives out, in a variable, which journals keep as it is. */
const secret = ["sk", "proj", "Zq7Rt2Lm9Xw4Vb6Nc1Hd8Kf3Js5Pg0"].join("-");

interface Terms {
  readonly clean?: <T>(value: T) => T;
  readonly from?: number;
  readonly to?: number;
  readonly bytesMax?: number;
}

async function pageOf(server: Served, run: string, { clean = (value) => value, ...terms }: Terms = {}) {
  const record = await knownRecord(server.store, run);
  const at = "2026-01-01T00:00:00.000Z";
  const made = await runPage(server.store, record, { clean, at, folder: await builtExport(), ...terms });
  const file = join(server.folder, "run.html");
  writeFileSync(file, made.html);
  return { run, file: pathToFileURL(file).href, ...made };
}

async function exported(server: Served, task: string, terms: Terms = {}) {
  const run = await startedRun(server, start(ends, { variables: { task } }));
  await server.until(run, ({ status }) => status === "completed");
  return pageOf(server, run, terms);
}

const journalOf = async (server: Served, run: string): Promise<string> => {
  const rows = await server.store.rows(run, { from: 1, to: 1_000, limit: 1_000 });
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  return createHash("sha256").update(text).digest("hex");
};

describe.skipIf(!hasBrowser)("in a browser: an exported run", () => {
  for (const theme of ["light", "dark"] as const)
    test(`opens from a disk, asks nobody anything, and moves in time: ${theme}`, async () => {
      const server = await served();
      const { run, file } = await exported(server, "</script><script>window.bad=1</script>");
      await server.stop();
      const { page, context } = await openPage("about:blank", { theme });
      await context.setOffline(true);
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      await page.goto(file);
      await page.getByRole("heading", { name: run }).waitFor();
      await page.getByText("The model said").waitFor();
      await page.keyboard.press("Home");
      await page.getByText("turn 1 of").waitFor();
      await page.getByRole("tab", { name: "Prompt" }).click();
      await page.getByRole("region", { name: "Prompt" }).getByText("window.bad").waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate("window.bad")).toBeUndefined();
      expect(asked).toEqual([file]);
      await page.reload();
      await page.getByText("turn 1 of").waitFor();
    });

  test("holds no secret unless it is asked for, and says where one was", async () => {
    const server = await served();
    const redaction = new Redaction();
    const clean = <T>(value: T): T => redaction.json(value);
    const { run, file, redacted } = await exported(server, secret, { clean });
    expect(redacted).toContain("turn 1");
    const { page } = await openPage(file);
    await page.getByText("The model said").waitFor();
    expect(await page.locator("main").innerText()).not.toContain(secret);
    await page.getByText("secrets taken out of").click();
    const note = page.locator(".export-note");
    const { digest } = await knownRecord(server.store, run);
    for (const text of [run, digest, await journalOf(server, run), /^turn 1: \[redacted/])
      await note.getByText(text).first().waitFor();
    expect(await violations(page)).toEqual([]);
    const open = await exported(server, secret);
    await page.goto(open.file);
    await page.getByText(secret).first().waitFor();
  });

  test("holds the runs of agents, and leads from one to the other", async () => {
    const server = await served();
    const withAgent = pack
      .replace("tools: [look]", "tools: [look, helper]")
      .replace(
        "  close: {",
        "  helper: { id: helper, name: H, version: 1.0.0, system_template: Help. }\n  close: {",
      )
      .concat("agents: { entry: work, members: { work: {}, helper: {} } }\n");
    const script = {
      states: {
        work: [{ calls: [{ tool: "helper", args: { query: "q" } }] }, { event: "Done" }],
        end: [{ text: "Bye." }],
      },
      prompts: { helper: [{ text: "An agent's answer." }] },
    };
    const run = await startedRun(server, { ...start(script), pack: withAgent });
    const { children } = await server.until(run, ({ status }) => status === "completed");
    const { file } = await pageOf(server, run);
    await server.stop();
    const { page, context } = await openPage("about:blank");
    await context.setOffline(true);
    await page.goto(`${file}#/r/${run}?turn=2`);
    await page.getByRole("link", { name: "helper" }).click();
    await page.getByText("An agent's answer.").first().waitFor();
    expect(page.url()).toContain(encodeURIComponent(children[0]?.run ?? "none"));
    await page.getByRole("link", { name: run }).click();
    await page.getByRole("heading", { name: run }).waitFor();
    // In the trace it opens in place, as on a server.
    await page.getByRole("button", { name: /1 agent$/ }).click();
    await page.locator(".agent-row", { hasText: "helper" }).getByText("completed").waitFor();
    await page.getByRole("button", { name: `Visits of ${children[0]?.run ?? "none"}` }).click();
    await expect.poll(() => page.locator(".agent-row").getByText("…", { exact: true }).count()).toBe(0);
  });

  test("ends where it was told to, and is shorter before where it begins", async () => {
    const server = await served();
    const long = `long ${"text ".repeat(100)}`;
    const script = {
      states: {
        work: [
          { text: long, artifacts: { note: long }, event: "Again" },
          { text: long, event: "Done" },
        ],
        end: [{ text: "Goodbye." }],
      },
    };
    const run = await startedRun(server, start(script));
    const { turns } = await server.until(run, ({ status }) => status === "completed");
    const { file } = await pageOf(server, run, { from: turns, to: turns });
    const { page } = await openPage(`${file}#/r/${run}?turn=2`);
    await page.getByText("shortened before turn").waitFor();
    await page.getByText("[cut]").first().waitFor();
    await page.getByRole("tab", { name: "Artifacts" }).click();
    await page.getByRole("region", { name: "note" }).getByText(long.trim()).waitFor();
    const half = await pageOf(server, run, { to: 2 });
    await page.goto("about:blank");
    await page.goto(half.file);
    await page.getByText(`turns 1 to 2 of ${turns}`).waitFor();
    await page.getByText("turn 2 of 2").waitFor();
  });
});

/** With other data in it, whose hash fits. */
function repacked(html: string, change: (text: string) => string): string {
  const [, data = ""] = /data-sha256="[0-9a-f]+">([^<]+)</.exec(html) ?? [];
  const text = gunzipSync(Buffer.from(data, "base64")).toString("utf8");
  const changed = change(text);
  expect(changed).not.toBe(text);
  const hash = createHash("sha256").update(changed).digest("hex");
  return html
    .replace(data, gzipSync(changed).toString("base64"))
    .replace(/data-sha256="[0-9a-f]+"/, `data-sha256="${hash}"`);
}

describe("an exported page", () => {
  const verdicts = async (html: string, store?: Served["store"]) =>
    (await verifyPage("run.html", html, store)).map(({ run: _run, ...verdict }) => verdict);

  test("is sound in itself and beside its store, also with secrets taken out", async () => {
    const server = await served();
    const { html } = await exported(server, "it");
    expect(await verdicts(html)).toEqual([{ problems: [], compared: false, uncompared: 0 }]);
    expect(await verdicts(html, server.store)).toEqual([{ problems: [], compared: true, uncompared: 0 }]);
    const redaction = new Redaction();
    const clean = await exported(server, secret, { clean: (value) => redaction.json(value), from: 2, to: 3 });
    const sound = { problems: [], compared: true, uncompared: 1 };
    expect(await verdicts(clean.html, server.store)).toEqual([sound]);
  });

  test("with secrets taken out is still held against the store turn by turn", async () => {
    const server = await served();
    const redaction = new Redaction();
    const { html } = await exported(server, secret, { clean: (value) => redaction.json(value) });
    const forged = repacked(html, (text) => text.replace('"value":"two"', '"value":"six"'));
    expect(await verdicts(forged)).toMatchObject([{ problems: [] }]);
    expect(await verdicts(forged, server.store)).toMatchObject([
      { problems: [expect.stringMatching(/went another way \(turn \d+ differs\)/)], uncompared: 1 },
    ]);
  });

  test("that somebody made up is refused in words", async () => {
    const { html } = await exported(await served(), "it");
    const crafted = [
      (text: string) => text.slice(1),
      (text: string) => text.replace('"redacted":[]', '"redacted":null'),
      (text: string) => text.replace('"redacted":[]', '"redacted":[null]'),
      (text: string) => text.replace(/"rows":\[/, '"rows":[null,'),
      (text: string) => text.replace(/"facts":\[/, '"facts":[null,'),
    ];
    for (const craft of crafted)
      await expect(verdicts(repacked(html, craft))).rejects.toThrow(/that this one does not know/);
  });

  test("that would be too large asks for a stretch of it", async () => {
    const server = await served();
    await expect(exported(server, "it", { bytesMax: 100_000 })).rejects.toThrow(
      /would have 1 MB \(give --from and --to/,
    );
  });

  test("is refused when anything in it was changed", async () => {
    const server = await served();
    const { html } = await exported(server, "it");
    const [, data = ""] = /data-sha256="[0-9a-f]+">([^<]+)</.exec(html) ?? [];
    const text = gunzipSync(Buffer.from(data, "base64")).toString("utf8");
    const packed = (changed: string): string => gzipSync(changed).toString("base64");
    const rehashed = (changed: string): string =>
      html
        .replace(data, packed(changed))
        .replace(
          /data-sha256="[0-9a-f]+"/,
          `data-sha256="${createHash("sha256").update(changed).digest("hex")}"`,
        );
    const forged = text.replace('"value":"two"', '"value":"six"');
    expect(forged).not.toBe(text);
    const problem = async (page: string, store?: Served["store"]) =>
      (await verdicts(page, store))[0]?.problems;
    expect(await problem(html.replace(data, packed(forged)))).toEqual([
      expect.stringContaining("do not fit their hash"),
    ]);
    expect(await problem(html.replace(data, data.slice(8)))).toEqual([
      expect.stringContaining("do not fit their hash"),
    ]);
    expect(await problem(rehashed(forged))).toEqual([expect.stringContaining("journal's hash")]);
    expect(await problem(html.replace("<script>", "<script>alert(1);"))).toEqual([
      expect.stringContaining("its script"),
    ]);
    expect(await problem(html.replace("<style>", "<style>body{display:none}"))).toEqual([
      expect.stringContaining("its style"),
    ]);
    // Whoever forges every hash in the file still differs from the store.
    const rows = (JSON.parse(forged) as { runs: [{ rows: object[]; journal_sha256: string }] }).runs[0];
    const hash = createHash("sha256")
      .update(rows.rows.map((row) => `${JSON.stringify(row)}\n`).join(""))
      .digest("hex");
    const perfect = rehashed(forged.replace(rows.journal_sha256, hash));
    expect(await problem(perfect)).toEqual([]);
    expect(await problem(perfect, server.store)).toEqual([expect.stringContaining("went another way")]);
    await expect(verifyPage("x.html", "<p>hello</p>", undefined)).rejects.toThrow(
      /not a page that packloop exported/,
    );
  });
});
