// The protocol's own conformance suite against our server, at the revision 2026-07-28. What it finds wanting
// and why is in mcp-conformance.txt, which may only get shorter.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { systemClock } from "../../src/engine/system-clock.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { withFixtures } from "./mcp-fixtures.ts";
import { served, temporaryFolder } from "./served.ts";

const suite = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const expected = readFileSync(new URL("mcp-conformance.txt", import.meta.url), "utf8");

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

test("the conformance suite finds nothing wanting beyond what is written down with its reason", async () => {
  const clock = systemClock();
  const { url } = await served({
    settings: { ...noSettings("."), tools: { ask: { builtin: "human" } } },
    // A call becomes a task soon, so that the suite's slow tools are slow enough.
    clock: { ...clock, sleep: (ms, signal) => clock.sleep(ms === 2_000 ? 50 : ms, signal) },
  });
  const folder = temporaryFolder();
  const args = ["server", "--url", await withFixtures(url), "--requirements", "2026-07-28", "-o", folder];
  const child = spawn(process.execPath, [suite, ...args], { cwd: folder, stdio: "ignore" });
  await once(child, "exit");
  const found = readdirSync(folder).flatMap((name) => {
    const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as readonly Check[];
    return checks.map((check) => ({ ...check, id: `${scenario} ${check.id}` }));
  });
  expect(found.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(100);
  const failed = new Set(found.filter(({ status }) => status === "FAILURE").map(({ id }) => id));
  expect([...failed].toSorted()).toEqual(knownFailures());
});

/** Lines of a scenario and a check, under a heading that gives the reason. */
function knownFailures(): readonly string[] {
  const lines = expected.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.toSorted();
}
