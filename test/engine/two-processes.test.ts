// Two processes on one store: what one remembers of a run may be overtaken by the other.

import { expect, test } from "vitest";
import type { Input } from "../../src/core/input.ts";
import { statusOf } from "../../src/core/run.ts";
import { Door } from "../../src/engine/door.ts";
import { Engine } from "../../src/engine/engine.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { program } from "../core/scenario.ts";

const pack = program(`id: two
name: Two
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
tools: { read: { name: read, description: Read } }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [read] }
`);
const start = { mode: "autonomous", variables: {}, input: "" } as const;
const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
const answer = (step: number, value: object): Input => {
  return { type: "answer", at: 2, step, outcome: { ok: true, value: value as never } };
};
const calls = [{ id: "c", tool: "read", args: {} }];

test("an answer to a step that another process asked is taken", async () => {
  const store = memoryStore();
  const [mine, theirs] = [new Door(store, () => undefined), new Door(store, () => undefined)];
  await mine.putProgram("d", pack, "");
  const create = { digest: "d", packId: "two", packVersion: "1.0.0", setup: {} };
  await mine.submit("r", { type: "start", at: 1, digest: "d", ...start }, { create });
  await theirs.submit("r", answer(1, { text: "", calls, usage }));
  expect(await mine.submit("r", answer(2, { found: true }))).toMatchObject({ kind: "done" });
});

test("resuming reads what another process wrote, and does not call a model again", async () => {
  const store = memoryStore();
  const clock = systemClock();
  const portsOf = () => Promise.reject(new Error("something was performed"));
  const options = { store, clock, portsOf, idle: true };
  const [mine, theirs] = [new Engine(options), new Engine(options)];
  await mine.start({ id: "r", program: pack, digest: "d", source: "", setup: {}, input: start });
  await theirs.submit("r", answer(1, { text: "done", calls: [], usage }));
  const run = await mine.resume("r");
  expect(run && statusOf(run)).toBe("completed");
});
