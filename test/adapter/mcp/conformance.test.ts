// The protocol's own conformance suite against our client, at the revision 2026-07-28: everything that it
// requires of clients but OAuth. Credentials come with the binding of a server (`bearer_env`, `headers`), so
// the scenarios under `auth/` have nothing to look at.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../../tidy/source-files.ts";

const suite = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const program = join(root, "test/adapter/mcp/conformance-program.ts");

const scenarios = [
  ["tools_call", 2],
  ["request-metadata", 6],
  ["sep-2322-client-request-state", 5],
  ["http-standard-headers", 3],
  ["http-custom-headers", 18],
  ["http-invalid-tool-headers", 12],
  ["json-schema-ref-no-deref", 1],
  ["json-schema-2020-12-preservation", 8],
] as const;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const LONGEST_MS = 120_000;

test.each(scenarios)(
  "the suite finds nothing wanting in %s",
  { timeout: 2 * LONGEST_MS },
  async (scenario, least) => {
    const folder = mkdtempSync(join(tmpdir(), "packloop-mcp-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const command = `${process.execPath} ${program}`;
    const args = ["client", "--command", command, "--scenario", scenario, "--spec-version", "2026-07-28"];
    const limits = ["--timeout", String(LONGEST_MS), "-o", folder];
    const child = spawn(process.execPath, [suite, ...args, ...limits], { cwd: folder, stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child, "exit");
    const checks = readdirSync(folder).flatMap(
      (name) => JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as readonly Check[],
    );
    // What is skipped is about requests that our client never makes: resources, prompts, roots, sampling.
    const wanting = checks.filter(({ status }) => !["SUCCESS", "SKIPPED", "INFO"].includes(status));
    expect(wanting).toEqual([]);
    expect(checks.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThanOrEqual(least);
  },
);
