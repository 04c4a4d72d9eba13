// `npm run bench`: prints a table and writes bench/results.json.
// P7: `packloop check` cold on a 20-state pack over a bare Node, and on a pack of 1 MB.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { medians } from "./measure.ts";
import { samplePack } from "./sample-pack.ts";

const bin = fileURLToPath(new URL("../bin/packloop", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "packloop-bench-"));
const small = join(folder, "small.pack.yaml");
const largeYaml = join(folder, "large.pack.yaml");
const largeJson = join(folder, "large.pack.json");
writeFileSync(small, samplePack({ states: 20, templateLength: 200, json: false }));
writeFileSync(largeYaml, samplePack({ states: 2000, templateLength: 180, json: false }));
writeFileSync(largeJson, samplePack({ states: 2000, templateLength: 180, json: true }));

const node = process.execPath;
const times = medians(
  [
    { name: "node -e 0", command: [node, "-e", "0"] },
    { name: "check, 20 states", command: [node, bin, "check", small] },
    { name: "check, 1 MB YAML", command: [node, bin, "check", largeYaml] },
    { name: "check, 1 MB JSON", command: [node, bin, "check", largeJson] },
  ],
  9,
);
rmSync(folder, { recursive: true });

const base = times.get("node -e 0") as number;
const rows = [...times].map(([name, ms]) => ({ name, ms: Math.round(ms), overNode: Math.round(ms - base) }));
for (const { name, ms, overNode } of rows) {
  process.stdout.write(
    `${name.padEnd(20)} ${String(ms).padStart(6)} ms   ${String(overNode).padStart(6)} ms over bare node\n`,
  );
}
writeFileSync(new URL("results.json", import.meta.url), `${JSON.stringify({ p7: rows }, null, 2)}\n`);
