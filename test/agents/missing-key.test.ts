// An agent whose model has no key is held; whoever takes up its caller with a key lets the agent go, too.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createEngine, Fault } from "../../src/library/packloop.ts";
import { sqliteStore } from "../../src/library/sqlite.ts";
import { openPack } from "../../src/pack/pack.ts";
import { runFolder } from "../cli/run-folder.ts";

const pack = `id: p
name: P
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  lead: { id: lead, name: Lead, version: 1.0.0, system_template: Lead., tools: [scout] }
  scout: { id: scout, name: Scout, version: 1.0.0, system_template: Look. }
agents: { entry: lead, members: { lead: {}, scout: {} } }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: lead, on_event: { Done: end } }
    end: { prompt_task: scout, terminal: true }
`;
const script = `states:
  work: [{ calls: [{ tool: scout, args: { query: it } }] }, { event: Done }]
  end: [{ text: Bye. }]
prompts:
  scout: [{ text: Found. }]
`;

test("resuming the caller lets go an agent that was held for want of a key, and none that a person holds", async () => {
  using folder = runFolder({ "script.yaml": script });
  const opened = openPack(pack, { file: "p.pack.yaml" });
  if (!opened.ok) throw opened.toError();
  const path = join(folder.path, "runs.db");
  const start = async (pausedBy?: string): Promise<string> => {
    await using engine = await createEngine({
      store: sqliteStore(path),
      model: {
        call: async (_request, { run, step }) => {
          if (run.includes("/")) throw new Fault("no_key", "`a/b` needs a key", { retry: "never" });
          const calls = [{ id: `${step}`, tool: "scout", args: { query: "it" } }];
          return { text: "", calls, usage: { inputTokens: 1, outputTokens: 1, costUsd: 0 } };
        },
      },
    });
    const run = await engine.start(opened.program, {});
    expect((await run.result()).status).toBe("waiting");
    if (pausedBy !== undefined) await engine.run(`${run.id}/2`).pause({ by: pausedBy });
    return run.id;
  };
  writeFileSync(join(folder.path, "p.pack.yaml"), pack);
  const resume = (run: string) => folder.cli(["resume", run, "--store", path, "--script", "script.yaml"]);
  expect(resume(await start())).toMatchObject({ code: 0 });
  expect(resume(await start("alice"))).toMatchObject({ code: 10 });
});
