// Runs for tests of the command line: a small pack with a loop, a tool, a gate for a person and an artifact
// of each mode, and scripts that lead through it.

import { createHash } from "node:crypto";
import { canonical, type JsonObject } from "../../src/base/json.ts";
import { folderWith, packloop, type Ran } from "./run-cli.ts";

const head = 'id: s\nname: S\nversion: 1.0.0\ntemplate_engine: { version: v1, syntax: "{{variable}}" }\n';

export const pack = `${head}prompts:
  work:
    id: work
    name: Work
    version: 1.0.0
    system_template: "Do {{task}}. So far: {{artifacts.log}}"
    variables: [{ name: task, type: string, required: true }]
    tools: [measure]
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
tools:
  measure:
    name: measure
    description: Measures.
    parameters: { type: object, properties: { what: { type: string } } }
workflow:
  version: 2
  entry: work
  states:
    work:
      prompt_task: work
      on_event: { Again: work, Ready: gate }
      max_visits: 3
      on_max_visits: gate
      artifacts:
        report: { type: application/json }
        log: { type: text/plain, mode: append }
    gate:
      prompt_task: close
      orchestration: external
      on_event: { Approved: done, Rejected: work }
    done: { prompt_task: close, terminal: true }
  engine: { budget: { max_total_visits: 20, max_wall_time_sec: 86400 } }
`;

const script = `states:
  work:
    - calls: [{ tool: measure, args: { what: width } }]
    - { artifacts: { report: { size: 1 }, log: first }, event: Again }
    - { artifacts: { report: { size: 2 }, log: second }, event: Ready, context: two rounds }
  done:
    - text: Goodbye.
tools:
  measure:
    - { ok: { width: 7 } }
`;

export interface Folder extends Disposable {
  readonly path: string;
  /** A command in this folder. */
  readonly run: (...args: string[]) => Ran;
  /** A command that must end with this code; its output as JSON. */
  readonly json: <T>(code: number, ...args: string[]) => T;
  /** Starts the pack, which then waits at its gate; the run's name. */
  readonly waiting: () => string;
  /** As `waiting`, and then approved to its end. */
  readonly completed: () => string;
}

export interface Summary {
  readonly run: string;
  readonly status: string;
  readonly state: string;
  readonly turns: number;
  readonly output: { readonly text: string; readonly artifacts: Readonly<Record<string, unknown>> } | null;
  readonly visits: Readonly<Record<string, number>>;
  readonly used: Readonly<Record<string, number>>;
  readonly pack: { readonly digest: string };
  readonly forked_from: { readonly run: string; readonly turn: number } | null;
}

export function folderOfRuns(files: Readonly<Record<string, string>> = {}): Folder {
  const folder = folderWith({ "pack.yaml": pack, "script.yaml": script, ...files });
  const run = (...args: string[]) => packloop(args, { cwd: folder.path });
  const json = <T>(code: number, ...args: string[]): T => {
    const ran = run(...args);
    if (ran.code !== code) throw new Error(`exit ${ran.code}, expected ${code}: ${ran.stderr}${ran.stdout}`);
    return JSON.parse(ran.stdout) as T;
  };
  const started = (): Summary =>
    lastLine(run("run", "pack.yaml", "--script", "script.yaml", "--var", "task=it", "--json"));
  return {
    path: folder.path,
    run,
    json,
    waiting: () => started().run,
    completed: () => {
      const { run: id } = started();
      run("send", id, "Approved", "--by", "alice", "--follow");
      return id;
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** The summary that ends a stream of turns. */
export function lastLine(ran: Ran): Summary {
  return JSON.parse(ran.stdout.trim().split("\n").at(-1) ?? "") as Summary;
}

/** An exported run with another header, and the hash that fits it. */
export function withHeader(text: string, edit: (header: string) => string): string {
  const [first = "", ...lines] = text.split("\n");
  const edited = edit(first);
  if (edited === first) throw new Error("nothing was edited");
  const { sha256: _old, ...bare } = JSON.parse(edited) as JsonObject;
  const sha256 = createHash("sha256")
    .update([canonical(bare), ...lines].join("\n"))
    .digest("hex");
  return [JSON.stringify({ ...bare, sha256 }), ...lines].join("\n");
}
