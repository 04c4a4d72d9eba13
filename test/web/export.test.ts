// A run as one file, opened from a disk by a browser that reaches nothing.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { runPage } from "../../src/cli/runs/run-page.ts";
import { Redaction } from "../../src/engine/redaction.ts";
import { knownRecord } from "../../src/host/stored-runs.ts";
import { ends, start } from "../server/sample-pack.ts";
import { type Served, served } from "../server/served.ts";
import { startedRun } from "../server/started-run.ts";
import { closeBrowser, hasBrowser, openPage, violations } from "./browser.ts";
import { builtExport } from "./built-page.ts";

afterAll(closeBrowser);

/** Has the form of a key that an issuer gives out, in a variable, which journals keep as it is. */
const secret = ["sk", "proj", "Zq7Rt2Lm9Xw4Vb6Nc1Hd8Kf3Js5Pg0"].join("-");

async function exported(server: Served, task: string, clean: <T>(value: T) => T = (value) => value) {
  const run = await startedRun(server, start(ends, { variables: { task } }));
  await server.until(run, ({ status }) => status === "completed");
  const record = await knownRecord(server.store, run);
  const at = "2026-01-01T00:00:00.000Z";
  const made = await runPage(server.store, record, { clean, at, folder: await builtExport() });
  const file = join(server.folder, "run.html");
  writeFileSync(file, made.html);
  return { run, file: pathToFileURL(file).href, ...made };
}

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
    const { file, redacted } = await exported(server, secret, (value) => redaction.json(value));
    expect(redacted).toContain("turn 1");
    const { page } = await openPage(file);
    await page.getByText("The model said").waitFor();
    expect(await page.locator("main").innerText()).not.toContain(secret);
    const open = await exported(server, secret);
    await page.goto(open.file);
    await page.getByText(secret).first().waitFor();
  });
});
