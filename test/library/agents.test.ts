// Agents (S41–S43): calls that are runs of their own, in real runs.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createEngine } from "../../src/library/packloop.ts";
import { sqliteStore } from "../../src/library/sqlite.ts";
import { openPack } from "../../src/pack/pack.ts";

/** An outer loop over findings; the auditor is a loop of its own, the clerk one prompt, the guard a person. */
const text = `id: audit
name: Audit
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  triage: { id: triage, name: T, version: 1.0.0, system_template: Triage., tools: [auditor, clerk, guard] }
  report: { id: report, name: R, version: 1.0.0, system_template: Report. }
  auditor: { id: auditor, name: A, version: 1.0.0, system_template: Look., tools: [clerk, auditor] }
  clerk: { id: clerk, name: C, version: 1.0.0, system_template: Note. }
  guard: { id: guard, name: G, version: 1.0.0, system_template: Decide. }
workflow:
  version: 2
  entry: triage
  states:
    triage: { prompt_task: triage, max_visits: 4, on_max_visits: report, on_event: { Next: triage, Done: report } }
    report: { prompt_task: report, terminal: true }
    look:
      prompt_task: auditor
      max_visits: 3
      on_max_visits: verdict
      on_event: { Again: look, Found: verdict }
      artifacts: { finding: { type: text/plain } }
    verdict: { prompt_task: clerk, terminal: true }
    gate: { prompt_task: guard, orchestration: external, on_event: { Approved: verdict } }
agents:
  entry: triage
  members:
    triage: { description: Triages }
    auditor: { description: Audits one finding, state: look }
    clerk: { description: Writes notes }
    guard: { description: Asks a person, state: gate }
`;

function audit() {
  const pack = openPack(text, { file: "audit.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  return pack.program;
}

const ask = (tool: string, query: string) => ({ calls: [{ tool, args: { query } }] });
const ends = { report: [{ text: "reported" }], verdict: [{ text: "it is real" }] };

async function engineWith(states: JsonObject, path?: string) {
  const store = path === undefined ? {} : { store: sqliteStore(path) };
  return await createEngine({ ...store, model: { script: { states: { ...ends, ...states }, prompts } } });
}
const prompts = { clerk: [{ text: "noted" }] };

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "packloop-agents-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a call to an agent", () => {
  test("with a state runs that loop, and the caller gets its answer and artifacts", async () => {
    await using engine = await engineWith({
      triage: [ask("auditor", "CVE-1"), { event: "Done" }],
      look: [{ event: "Again" }, { artifacts: { finding: "overflow" }, event: "Found" }],
    });
    const run = await engine.start(audit());
    expect(await run.result()).toMatchObject({ status: "completed", visits: { triage: 1, report: 1 } });
    const child = engine.run(`${run.id}/2`);
    expect(await child.summary()).toMatchObject({
      status: "completed",
      parent: { run: run.id, step: 2 },
      visits: { look: 2, verdict: 1 },
      output: { text: "it is real", artifacts: { finding: "overflow" } },
    });
    const answers = [];
    for await (const { facts } of run.follow())
      answers.push(...facts.filter((fact) => fact.type === "answered"));
    expect(answers.find(({ step }) => step === 2)?.outcome).toEqual({
      ok: true,
      value: { status: "completed", response: "it is real", artifacts: { finding: "overflow" } },
    });
  });

  test("without a state runs the prompt once, under the reference runtime's name too", async () => {
    await using engine = await engineWith({ triage: [ask("a2a__clerk", "write"), { event: "Done" }] });
    const run = await engine.start(audit());
    expect(await run.result()).toMatchObject({ status: "completed" });
    expect(await engine.run(`${run.id}/2`).summary()).toMatchObject({
      state: null,
      output: { text: "noted" },
    });
  });

  test("twice starts fresh twice", async () => {
    const look = [{ event: "Found" }];
    const triage = [ask("auditor", "1"), { event: "Next" }, ask("auditor", "2"), { event: "Done" }];
    await using engine = await engineWith({ triage, look });
    const run = await engine.start(audit());
    await run.result();
    for (const step of [2, 5])
      expect(await engine.run(`${run.id}/${step}`).summary()).toMatchObject({
        visits: { look: 1, verdict: 1 },
      });
  });

  test("that ends badly is an error result, and the caller goes on", async () => {
    await using engine = await engineWith({
      triage: [ask("auditor", "x"), { event: "Done" }],
      look: [{ fail: { status: 400, message: "no" } }],
    });
    const run = await engine.start(audit());
    expect(await run.result()).toMatchObject({ status: "completed" });
    expect(await engine.run(`${run.id}/2`).summary()).toMatchObject({ status: "failed" });
  });

  test("that calls itself for ever ends at the depth, within the caller's budget", async () => {
    await using engine = await engineWith({
      triage: [ask("auditor", "x"), { event: "Done" }],
      look: [ask("auditor", "deeper"), { event: "Found" }],
    });
    const run = await engine.start(audit());
    expect(await run.result()).toMatchObject({ status: "completed" });
    const deepest = [run.id, ...Array.from({ length: 7 }, (_, i) => (i === 0 ? 2 : 2))].join("/");
    expect(await engine.run(deepest).summary()).toMatchObject({ status: "completed" });
    await expect(engine.run(`${deepest}/2/2`).summary()).rejects.toMatchObject({ code: "unknown-run" });
  });
});

describe("an agent that waits for a person", () => {
  const states = { triage: [ask("guard", "may we?"), { event: "Done" }] };

  test("makes its caller wait, in another process too, until somebody decides", async () => {
    const path = join(folder, "runs.db");
    let id = "";
    {
      await using engine = await engineWith(states, path);
      const run = await engine.start(audit());
      id = run.id;
      expect(await run.result()).toMatchObject({
        status: "waiting",
        waiting_for: [{ step: 2, kind: "answer", tool: "guard", run: `${run.id}/2` }],
      });
    }
    await using engine = await engineWith(states, path);
    await engine.resume(id);
    await engine.run(`${id}/2`).send("Approved", { by: "ann" });
    await engine.run(`${id}/2`).result();
    expect(await engine.run(id).result()).toMatchObject({ status: "completed" });
  });

  test("is cancelled with its caller", async () => {
    await using engine = await engineWith(states);
    const run = await engine.start(audit());
    await run.result();
    await run.cancel({ by: "ann" });
    const child = engine.run(`${run.id}/2`);
    for await (const _turn of child.follow()) continue;
    await expect.poll(async () => (await child.summary()).status).toBe("cancelled");
  });

  test("is stopped when somebody answers in its place", async () => {
    await using engine = await engineWith(states);
    const run = await engine.start(audit());
    await run.result();
    await run.answer(2, { ok: true, value: "go ahead" }, { by: "ann" });
    expect(await run.result()).toMatchObject({ status: "completed" });
    await expect.poll(async () => (await engine.run(`${run.id}/2`).summary()).status).toBe("cancelled");
  });
});
