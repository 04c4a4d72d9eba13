// `npm start`: the main job on an example, with the commands shown so that they can be repeated.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "bin", "packloop");
const pack = join("examples", "codegen", "codegen.pack.yaml");

const commands = [
  ["check", pack, "--bound", "--quiet"],
  ["graph", pack],
];
for (const args of commands) {
  process.stdout.write(`$ packloop ${args.map((arg) => (/\s/.test(arg) ? `"${arg}"` : arg)).join(" ")}\n`);
  const { status } = spawnSync(process.execPath, [bin, ...args], {
    stdio: "inherit",
    cwd: root,
  });
  process.stdout.write("\n");
  if (status !== 0) process.exit(status ?? 1);
}

process.stdout.write(
  [
    "Next:",
    "  npx packloop check YOUR.pack.yaml      check a pack of your own",
    "  npx packloop explain --list            every code packloop knows (docs/diagnostics.md)",
    `  npx packloop render ${pack} plan --var requirements="a counter"`,
    "  examples/README.md                     eight more loops, with a human gate among them",
    "",
  ].join("\n"),
);
