// Writes the pages that are made from the code.

import { writeFileSync } from "node:fs";
import { diagnosticsPage } from "./diagnostics-page.ts";

writeFileSync(new URL("../docs/diagnostics.md", import.meta.url), diagnosticsPage());
