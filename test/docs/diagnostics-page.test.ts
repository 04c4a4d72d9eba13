// docs/diagnostics.md is what the rules say today.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { diagnosticsPage } from "../../scripts/diagnostics-page.ts";

test("docs/diagnostics.md is up to date (npm run generate)", () => {
  const page = readFileSync(new URL("../../docs/diagnostics.md", import.meta.url), "utf8");
  expect(page).toBe(diagnosticsPage());
});
