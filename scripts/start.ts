// `npm start`: the main job on an example, with the commands shown so that they can be repeated.

import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "bin", "packloop");
const example = join("examples", "codegen");
const pack = join(example, "codegen.pack.yaml");
const store = join(mkdtempSync(join(tmpdir(), "packloop-start-")), "runs.db");

const commands = [
  ["check", pack, "--bound", "--quiet"],
  ["run", pack, "--script", join(example, "script.yaml"), "--var", "requirements=a slug for every title"],
  ["trace", "@"],
];
for (const args of commands) {
  process.stdout.write(`$ packloop ${args.map((arg) => (/\s/.test(arg) ? `"${arg}"` : arg)).join(" ")}\n`);
  const { status } = spawnSync(process.execPath, [bin, ...args], {
    stdio: "inherit",
    cwd: root,
    env: { ...process.env, PACKLOOP_STORE: store },
  });
  process.stdout.write("\n");
  if (status !== 0) process.exit(status ?? 1);
}

process.stdout.write(
  [
    "Next:",
    "  npx packloop check YOUR.pack.yaml      check a pack of your own",
    "  npx packloop explain --list            every code packloop knows (docs/diagnostics.md)",
    `  npx packloop graph ${pack}`,
    "  examples/README.md                     nine more loops, with a human gate among them",
    "",
  ].join("\n"),
);
