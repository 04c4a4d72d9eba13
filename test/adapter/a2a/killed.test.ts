// S45, S46 with processes: packloop, or the agent it waits for, is killed in the middle of a task.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Summary } from "../../../src/core/summary.ts";
import { folderWith } from "../../cli/run-cli.ts";
import { packloop, startAgent } from "./processes.ts";

const pack = `id: caller
name: Caller
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Work., tools: [clerk] }
`;

const script = `prompts:
  work:
    - calls: [ { tool: clerk, args: { query: write the report } } ]
    - { text: done }
`;

const config = (url: string, more = ""): string => `tools:
  clerk: { agent: "${url}", approval: auto${more} }
`;

interface Place extends Disposable {
  readonly path: string;
  readonly agent: string;
  messages(): readonly string[];
  go(): void;
}

function placeFor(): Place {
  const folder = folderWith({ "pack.yaml": pack, "script.yaml": script });
  const agent = join(folder.path, "agent");
  mkdirSync(agent);
  const noted = join(agent, "messages");
  return {
    path: folder.path,
    agent,
    messages: () => (existsSync(noted) ? readFileSync(noted, "utf8").trim().split("\n") : []),
    go: () => writeFileSync(join(agent, "go"), ""),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const RUN = ["run", "pack.yaml", "--script", "script.yaml", "--json"];
const isWaiting = (text: string): boolean => /"what":"deferred".*"task":/.test(text);

function summaryIn(text: string): Summary {
  const last = text
    .trimEnd()
    .split("\n")
    .findLast((line) => line.startsWith('{"run"'));
  if (last === undefined) throw new Error(`no summary: ${text}`);
  return JSON.parse(last) as Summary;
}

const resultsIn = (text: string): string =>
  text
    .split("\n")
    .filter((line) => line.includes('"answered"') && line.includes('"artifacts"'))
    .join("\n");

describe("a task of a remote agent", () => {
  test("survives the death of packloop: it is asked for by its name, and the message went out once", async () => {
    using place = placeFor();
    const agent = await startAgent(place.agent);
    writeFileSync(join(place.path, "packloop.yaml"), config(agent.url));
    const first = packloop(RUN, place.path);
    await first.until(isWaiting);
    await first.kill();
    place.go();
    const text = await packloop(["resume", "@", "--json"], place.path).ended;
    const summary = summaryIn(text);
    expect(summary).toMatchObject({ status: "completed", used: { tool_calls: 1 } });
    expect(resultsIn(text)).toContain("finished by the first process");
    expect(place.messages()).toEqual([`${summary.run}/2`]);
  });

  test("survives the death of its agent, which is started again", async () => {
    using place = placeFor();
    const agent = await startAgent(place.agent);
    writeFileSync(join(place.path, "packloop.yaml"), config(agent.url));
    const run = packloop(RUN, place.path);
    await run.until(isWaiting);
    await agent.kill();
    await run.until((text) => /"misses":1/.test(text));
    await startAgent(place.agent, agent.port);
    place.go();
    const text = await run.ended;
    expect(summaryIn(text)).toMatchObject({ status: "completed", used: { tool_calls: 1 } });
    expect(resultsIn(text)).toContain("finished by the second process");
    expect(place.messages()).toHaveLength(1);
  });

  test("survives the death of both", async () => {
    using place = placeFor();
    const agent = await startAgent(place.agent);
    writeFileSync(join(place.path, "packloop.yaml"), config(agent.url));
    const first = packloop(RUN, place.path);
    await first.until(isWaiting);
    await Promise.all([first.kill(), agent.kill()]);
    await startAgent(place.agent, agent.port);
    place.go();
    const text = await packloop(["resume", "@", "--json"], place.path).ended;
    expect(summaryIn(text)).toMatchObject({ status: "completed" });
    expect(resultsIn(text)).toContain("finished by the second process");
    expect(place.messages()).toHaveLength(1);
  });

  test("is cancelled with the run that waits for it", async () => {
    using place = placeFor();
    const agent = await startAgent(place.agent);
    writeFileSync(join(place.path, "packloop.yaml"), config(agent.url));
    const first = packloop(RUN, place.path);
    await first.until(isWaiting);
    await first.kill();
    const text = await packloop(["cancel", "@", "--by", "ann", "--json"], place.path).ended;
    const { run } = summaryIn(text);
    const shown = await packloop(["export", run], place.path).ended;
    const task = /"task":"([^"]+)"/.exec(shown)?.[1] ?? "";
    expect(readFileSync(join(place.agent, "tasks", `${task}.json`), "utf8")).toContain("TASK_STATE_CANCELED");
  });
});
