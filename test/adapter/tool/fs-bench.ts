// A workspace in a folder of its own, with something outside that nobody may reach, and calls of bound tools.

import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { assert, expect } from "vitest";
import type { BoundTool, Surroundings } from "../../../src/adapter/tool/bound-tool.ts";
import { OptionReader } from "../../../src/adapter/tool/option-reader.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import type { CallContext, ToolAnswer } from "../../../src/engine/ports.ts";

export const SECRET = "the secret outside";

export type Binder = (reader: OptionReader, around: Surroundings) => BoundTool;

export class Bench implements AsyncDisposable {
  readonly folder: string;
  /** What the tools see of the environment before the real one. */
  readonly env: Record<string, string>;
  readonly around: Surroundings;
  now = Date.UTC(2030, 0, 1);
  #step = 0;

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.env = { ...env };
    this.around = {
      folder: join(folder, "project"),
      workspaceOf: async () => this.workspace,
      env: (name) => this.env[name] ?? process.env[name],
      clock: { now: () => this.now, sleep: async () => undefined },
    };
  }

  static async make(
    files: Readonly<Record<string, string>> = {},
    env: Readonly<Record<string, string>> = {},
  ): Promise<Bench> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "packloop-tool-")));
    const bench = new Bench(folder, env);
    await mkdir(bench.workspace);
    await mkdir(bench.around.folder);
    await mkdir(join(folder, "outside"));
    await writeFile(join(folder, "outside", "secret.txt"), SECRET);
    for (const [path, text] of Object.entries(files)) await bench.put(path, text);
    return bench;
  }

  get workspace(): string {
    return join(this.folder, "work");
  }

  at(path: string): string {
    return join(this.workspace, path);
  }

  async put(path: string, text: string): Promise<void> {
    await mkdir(dirname(this.at(path)), { recursive: true });
    await writeFile(this.at(path), text);
  }

  reader(options: JsonObject): OptionReader {
    return new OptionReader(options, []);
  }

  bind(binder: Binder, options: JsonObject): BoundTool {
    const reader = this.reader(options);
    const tool = binder(reader, this.around);
    reader.end();
    assert.deepEqual(reader.problems, []);
    return tool;
  }

  context(given: Partial<CallContext> = {}): CallContext {
    const step = given.step ?? ++this.#step;
    return {
      run: "r_1",
      step,
      key: `r_1/${step}`,
      attempt: 1,
      signal: new AbortController().signal,
      state: "work",
      prompt: "work",
      nth: 0,
      ...given,
    };
  }

  call(tool: BoundTool, args: Json, given: Partial<CallContext> = {}): Promise<ToolAnswer> {
    return tool.call(args, this.context(given));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The value of a good answer. */
export function valueOf(answer: ToolAnswer): JsonObject {
  expect(answer).toMatchObject({ ok: true });
  return (answer as { readonly value: JsonObject }).value;
}

export function codeOf(answer: ToolAnswer): string {
  return "ok" in answer && !answer.ok ? answer.code : "none";
}

/** The problems a binder reports. */
export function problemsOf(binder: Binder, options: JsonObject, around: Surroundings): readonly string[] {
  const reader = new OptionReader(options, ["tools", "t"]);
  binder(reader, around);
  reader.end();
  return reader.problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
}
