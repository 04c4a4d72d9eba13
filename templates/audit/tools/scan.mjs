// Lists the lines of code/ that may be a weakness. It only looks at single lines, so some of them are none: whether
// one is real is what the investigator finds out.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const RULES = [
  ["weak-hash", /createHash\("(md5|sha1)"\)/],
  ["weak-random", /Math\.random\(/],
  ["sql-injection", /\.query\("[^"]*"\s*\+/],
  ["open-redirect", /request\.query\.next/],
  ["path-traversal", /\bjoin\("covers", name\)/],
  ["command-injection", /\bexec(File)?\(["`]/],
  ["code-injection", /\bnew Function\(|\beval\(/],
  ["stored-secret", /\bpassword: /],
  ["no-tls-check", /rejectUnauthorized: false/],
  ["plain-http", /"http:\/\//],
  ["open-cors", /Allow-Origin", "\*"/],
  ["html-injection", /\.innerHTML = /],
];

for await (const _ of process.stdin) continue;
const folder = fileURLToPath(new URL("../code/", import.meta.url));
const found = [];
for (const file of readdirSync(folder).sort()) {
  const lines = readFileSync(join(folder, file), "utf8").split("\n");
  for (const [index, text] of lines.entries())
    for (const [rule, pattern] of RULES)
      if (pattern.test(text)) found.push({ rule, file, line: index + 1, text: text.trim() });
}
const findings = found.map((one, index) => ({ id: `F${String(index + 1).padStart(2, "0")}`, ...one }));
process.stdout.write(JSON.stringify({ ok: findings }));
