// A pack whose tools are real, a script for its model, and folders to record and replay it in.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TraceRow } from "../../../src/core/trace.ts";
import { type RunFolder, runFolder } from "../../cli/run-folder.ts";

export const pack = `id: notes
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
    tools: [save, load]
  tell: { id: tell, name: Tell, version: 1.0.0, system_template: "Tell: {{artifacts.found}}" }
tools:
  save:
    name: save
    description: Keeps a text
    parameters:
      { type: object, properties: { path: { type: string }, content: { type: string } }, required: [path, content] }
workflow:
  version: 2
  entry: write
  engine: { budget: { max_total_visits: 9 } }
  states:
    write: { prompt_task: write, on_event: { Done: tell, Again: write }, artifacts: { found: { type: text/plain } } }
    tell: { prompt_task: tell, terminal: true }
`;

/** \`load\` is not in the pack: what a model is told about it comes from its binding. */
export const config = `tools:
  save: { builtin: fs, op: write }
  load: { builtin: fs, op: read }
workspace: work
`;

export const script = `states:
  write:
    - calls: [{ tool: save, args: { path: tides.txt, content: ebb and flow } }]
    - { calls: [{ tool: load, args: { path: tides.txt } }, { tool: load, args: { path: nowhere.txt } }] }
    - { event: Again }
    - { artifacts: { found: ebb }, event: Done }
  tell: [{ text: The water goes out. }]
`;

export const files = { "notes.pack.yaml": pack, "packloop.yaml": config, "script.yaml": script };

const run = ["run", "notes.pack.yaml", "--var", "topic=tides"];
export const record = [...run, "--script", "script.yaml", "--record", "run.cassette"];
export const replay = [...run, "--replay", "run.cassette"];

/** A cassette, recorded by the command line. */
export function recorded(others: Readonly<Record<string, string>> = {}): string {
  using folder = runFolder({ ...files, ...others });
  const ran = folder.cli(record);
  if (ran.code !== 0) throw new Error(ran.stderr);
  return readFileSync(join(folder.path, "run.cassette"), "utf8");
}

/** The pack and the cassette, and nothing that could answer otherwise. */
export const replayFolder = (cassette: string, others: Readonly<Record<string, string>> = {}): RunFolder =>
  runFolder({ "notes.pack.yaml": pack, "run.cassette": cassette, ...others });

/** The trace without what time and place make of it. */
export function wayOf(rows: readonly TraceRow[]): unknown {
  return rows.map(({ turn: _turn, at: _at, used, ...row }) => ({ ...row, used: { ...used, wall_ms: 0 } }));
}

export function rewrite(folder: RunFolder, file: string, change: (text: string) => string): void {
  const path = join(folder.path, file);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}
