// S45, S46 with a server from the registry: packloop is killed while a tool of an MCP server runs.

import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { startPackloop } from "./run-cli.ts";
import { type RunFolder, runFolder } from "./run-folder.ts";

const everything = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

const pack = `id: slow
name: Slow
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Work., tools: [operate, add] }
tools:
  operate:
    name: operate
    description: Takes its time
    parameters: { type: object, properties: { duration: { type: number }, steps: { type: number } } }
  add:
    name: add
    description: Adds
    parameters: { type: object, properties: { a: { type: number }, b: { type: number } } }
`;

const script = `prompts:
  work:
    - calls: [ { tool: add, args: { a: 2, b: 3 } } ]
    - calls: [ { tool: operate, args: { duration: 600, steps: 600 } } ]
    - { text: done }
`;

const config = (idempotent: boolean) => {
  const mcp = `mcp: { command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(everything)}, stdio] }`;
  return `tools:
  add: { ${mcp}, tool: get-sum, tier: read }
  operate: { ${mcp}, tool: trigger-long-running-operation, approval: auto, idempotent: ${idempotent} }
`;
};

async function killedWhen(folder: RunFolder, seen: RegExp): Promise<void> {
  const run = ["run", "pack.yaml", "--script", "script.yaml", "--json"];
  const started = startPackloop(run, folder.path);
  await started.until((text) => seen.test(text));
  await started.stop("SIGKILL");
}

describe("packloop killed while a tool of an MCP server runs", () => {
  test("finds the answered call answered, and asks about the one that may have happened", async () => {
    using folder = runFolder({ "pack.yaml": pack, "script.yaml": script, "packloop.yaml": config(false) });
    await killedWhen(folder, /"what":"sent","step":4/);
    const resumed = folder.summary(["resume", "@"]);
    expect(resumed.summary).toMatchObject({
      status: "waiting",
      waiting_for: [{ step: 4, kind: "in_doubt", tool: "operate" }],
    });
    expect(resumed.code).toBe(10);
    const answered = folder.summary(["answer", "@", "4", "--result", '"it ran"', "--by", "ann", "--follow"]);
    expect(answered.summary).toMatchObject({ status: "completed", used: { tool_calls: 2 } });
    const facts = (await folder.journal(answered.summary.run)).flatMap((row) => row.facts);
    const sums = facts.filter((fact) => fact.type === "answered" && fact.step === 2);
    expect(sums).toHaveLength(1);
    expect(JSON.stringify(sums)).toContain("5");
  });

  test("calls an idempotent tool again with the same key, and a cancelled run is over", async () => {
    using folder = runFolder({ "pack.yaml": pack, "script.yaml": script, "packloop.yaml": config(true) });
    await killedWhen(folder, /"tool":"operate","args":\{[^}]*\},"nth"/);
    const again = startPackloop(["resume", "@", "--json"], folder.path);
    // It works on the call again; Ctrl-C leaves it open once more.
    await again.stop("SIGINT");
    const shown: unknown = JSON.parse(folder.cli(["show", "@", "--json"]).stdout);
    expect(shown).toMatchObject({ status: "running", waiting_for: [] });
    expect(folder.cli(["cancel", "@", "--by", "ann"]).code).toBe(12);
  });
});
