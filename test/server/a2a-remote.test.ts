// A second packloop server as the remote agent of a run: it is killed in the middle of a task and started again,
// and the run that waits for it ends right.

import { describe, expect, test } from "vitest";
import type { Summary } from "../../src/core/summary.ts";
import { type Beside, startProgram } from "../adapter/a2a/processes.ts";
import { events, type WireAnswer, WireServer } from "../adapter/model/wire-server.ts";
import { folderWith } from "../cli/run-cli.ts";

const far = `id: far
name: Far
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  research: { id: research, name: Research, version: 1.0.0, system_template: Research. }
  tell: { id: tell, name: Tell, version: 1.0.0, system_template: Tell. }
workflow:
  version: 2
  entry: look
  engine: { budget: { max_total_visits: 9 } }
  states:
    look: { prompt_task: research, on_event: { Found: gate } }
    gate: { prompt_task: tell, orchestration: external, on_event: { Publish: end, Drop: end } }
    end: { prompt_task: tell, terminal: true }
agents:
  entry: research
  members:
    research: { state: look, description: Finds things out }
    tell: { description: Tells }
`;

const near = `id: near
name: Near
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Work., tools: [far] }
`;

const script = `prompts:
  work:
    - calls: [ { tool: far, args: { query: find it out } } ]
    - { text: done }
`;

/** A model's answer, streamed as compatible providers do it. */
function says(content: string): WireAnswer {
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...{ id: "1", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta, finish_reason }],
  });
  const chunks = events(chunk({ role: "assistant", content }, null), chunk({}, "stop"));
  return { chunks: [...chunks, "data: [DONE]\n\n"] };
}

const packloop = (args: readonly string[], folder: string): Beside =>
  startProgram("driver-program.ts", args, folder);

async function serve(
  folder: string,
  port = 0,
): Promise<Beside & { readonly url: string; readonly port: number }> {
  const server = packloop(
    ["serve", "far.pack.yaml", "--port", String(port), "--log-level", "silent"],
    folder,
  );
  await server.until((text) => / at http\S+\n/.test(text));
  const url = / at (http\S+)\n/.exec(server.text())?.[1];
  if (url === undefined) throw new Error(`it did not start: ${server.text()}`);
  return { ...server, url, port: Number(new URL(url).port) };
}

const farFolder = (model: WireServer) =>
  folderWith({
    "far.pack.yaml": far,
    "packloop.yaml": `model: { provider: openai-compatible, base_url: "${model.origin}/v1", model: m }\n`,
  });

const nearFolder = (agent: string) =>
  folderWith({
    "near.yaml": near,
    "script.yaml": script,
    "packloop.yaml": `tools:\n  far: { agent: "${agent}", approval: auto }\n`,
  });

const RUN = ["run", "near.yaml", "--script", "script.yaml", "--json"];
const hasTask = (text: string): boolean => /"what":"deferred".*"task":/.test(text);

function summaryIn(text: string): Summary {
  const last = text.split("\n").findLast((line) => line.startsWith('{"run"'));
  if (last === undefined) throw new Error(`no summary: ${text}`);
  return JSON.parse(last) as Summary;
}

// Each starts up to five processes from their sources, which is slow where much else is done.
describe("another packloop as remote agent", { timeout: 240_000 }, () => {
  test("is killed while its model thinks and started again: the run gets its answer", async () => {
    await using model = await WireServer.start({ hang: true }, says("It is so."));
    using there = farFolder(model);
    const first = await serve(there.path);
    using here = nearFolder(`${first.url}/a2a/far/tell`);
    const run = packloop(RUN, here.path);
    await run.until(hasTask);
    await expect.poll(() => model.requests.length).toBe(1);
    await first.kill();
    await run.until((text) => /"misses":1/.test(text));
    await serve(there.path, first.port);
    const text = await run.ended;
    expect(summaryIn(text)).toMatchObject({ status: "completed", used: { tool_calls: 1 } });
    expect(text).toContain('"response":"It is so."');
  });

  test("that waits for somebody makes the run wait, over restarts of both, and takes the answer", async () => {
    await using model = await WireServer.start(says("Found"), says("Published."));
    using there = farFolder(model);
    const first = await serve(there.path);
    using here = nearFolder(`${first.url}/a2a/far/research`);
    const asked = await packloop(RUN, here.path).ended;
    const summary = summaryIn(asked);
    expect(summary).toMatchObject({ status: "waiting", waiting_for: [{ step: 2, kind: "answer" }] });
    expect(JSON.stringify(summary.waiting_for)).toContain("Publish");
    await first.kill();
    await serve(there.path, first.port);
    const answer = [
      "answer",
      "@",
      "2",
      "--result",
      '{"event":"Publish"}',
      "--by",
      "ann",
      "--follow",
      "--json",
    ];
    const text = await packloop(answer, here.path).ended;
    expect(summaryIn(text)).toMatchObject({ status: "completed" });
    expect(text).toContain('"response":"Published."');
  });

  test("stops working when the run that asked it is cancelled", async () => {
    await using model = await WireServer.start({ hang: true });
    using there = farFolder(model);
    const server = await serve(there.path);
    using here = nearFolder(`${server.url}/a2a/far/tell`);
    const run = packloop(RUN, here.path);
    await run.until(hasTask);
    await run.kill();
    await packloop(["cancel", "@", "--by", "ann"], here.path).ended;
    const runs = async (): Promise<readonly { readonly status: string }[]> => {
      const { items } = (await (await fetch(`${server.url}/api/runs`)).json()) as {
        items: { status: string }[];
      };
      return items;
    };
    await expect.poll(runs).toMatchObject([{ status: "cancelled" }]);
  });
});
