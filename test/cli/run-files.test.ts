// What a run leaves beside the store goes with it.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runFolder } from "./run-folder.ts";

const pack = `id: writer
name: Writer
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  lead: { id: lead, name: L, version: 1.0.0, system_template: Lead., tools: [write_file, clerk] }
  clerk: { id: clerk, name: C, version: 1.0.0, system_template: Write., tools: [write_file] }
tools:
  write_file:
    name: write_file
    description: Writes a file
    parameters: { type: object, properties: { path: { type: string }, content: { type: string } } }
agents:
  entry: lead
  members: { lead: { description: Leads }, clerk: { description: Writes } }
`;

const script = `prompts:
  lead:
    - calls:
        - { tool: write_file, args: { path: a.txt, content: a } }
        - { tool: clerk, args: { query: write b } }
    - { text: done }
  clerk:
    - calls: [ { tool: write_file, args: { path: b.txt, content: b } } ]
    - { text: written }
`;

test("rm takes a run's agents, its own workspace and the notes of its tools along", () => {
  using folder = runFolder({
    "pack.yaml": pack,
    "script.yaml": script,
    "packloop.yaml": "tools: { write_file: { builtin: fs, op: write } }\n",
  });
  const { summary } = folder.summary(["run", "pack.yaml", "--prompt", "lead", "--script", "script.yaml"]);
  expect(summary.status).toBe("completed");
  const beside = join(folder.path, ".packloop");
  expect(readdirSync(join(beside, "work"))).toHaveLength(2);
  expect(readdirSync(join(beside, "changes"))).toHaveLength(2);
  const removed = folder.cli(["rm", summary.run, "--yes", "--json"]);
  expect(JSON.parse(removed.stdout)).toEqual({ removed: [summary.run, `${summary.run}/3`] });
  expect(readdirSync(join(beside, "work"))).toEqual([]);
  expect(readdirSync(join(beside, "changes"))).toEqual([]);
  expect(folder.cli(["show", summary.run]).code).toBe(5);
  expect(existsSync(join(folder.path, "packloop.yaml"))).toBe(true);
});
