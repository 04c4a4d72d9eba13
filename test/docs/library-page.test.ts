// The program in docs/library.md, run as it stands against the built package.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const pack = `id: notes
name: Notes
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  write:
    id: write
    name: Write
    version: 1.0.0
    system_template: Write about {{topic}}.
    variables: [{ name: topic, type: string, required: true }]
    tools: [look_up]
  tell: { id: tell, name: Tell, version: 1.0.0, system_template: Tell what was found. }
tools:
  look_up: { name: look_up, description: Looks a word up }
workflow:
  version: 2
  entry: write
  states:
    write: { prompt_task: write, on_event: { Written: tell } }
    tell: { prompt_task: tell, terminal: true }
`;

test("the program in docs/library.md runs as written", () => {
  const page = readFileSync(join(root, "docs/library.md"), "utf8");
  const program = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  // Inside the package, so that its own name leads to what was built.
  const folder = join(root, "dist", `docs-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(join(folder, "program.ts"), program);
    writeFileSync(join(folder, "notes.pack.yaml"), pack);
    const { stdout, stderr } = spawnSync(process.execPath, ["program.ts"], { cwd: folder, encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n").at(-1)).toBe("completed Ebb is when the water goes out.");
    expect(stdout).toContain("1 started entered asked");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
