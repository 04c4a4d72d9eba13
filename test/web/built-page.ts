// The page as it is shipped, built for the tests from the sources as they are.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll } from "vitest";
import { kept } from "../../src/base/kept.ts";

const built = new Map<string, Promise<string>>();

/** Once for each file of tests. */
export const builtPage = (): Promise<string> =>
  kept(built, "vite.config.ts", () => buildPage("vite.config.ts"));

/** The script and the style sheet of exported runs. */
export const builtExport = (): Promise<string> =>
  kept(built, "export.config.ts", () => buildPage("export.config.ts"));

async function buildPage(config: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "packloop-web-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  // Test runners name another environment, and the page would be another one for it.
  const before = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  await build({
    mode: "production",
    configFile: fileURLToPath(new URL(`../../web/${config}`, import.meta.url)),
    logLevel: "error",
    build: { outDir: folder, emptyOutDir: true },
  }).finally(() => {
    process.env["NODE_ENV"] = before;
  });
  return folder;
}
