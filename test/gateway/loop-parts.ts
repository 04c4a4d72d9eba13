// A stand-in agent and tools, small enough to be run hundreds of times: the agent asks for two tools in turn
// and completes; every event goes through pipelines like the real one's.

import { shellPlugin } from "./gateway-folder.ts";

/** Kills the gateway where `kill-plan` in the plugins' folder says so, once. */
const saboteur = `
const plan = () => {
  const path = require("node:path").join(__dirname, "..", "..", "kill-plan");
  try { const text = fs.readFileSync(path, "utf8"); fs.unlinkSync(path); return text; } catch { return ""; }
};
const [where, delay] = plan().split(" ");
const strike = () => require("node:child_process")
  .spawn("sh", ["-c", "sleep " + delay + "; kill -9 " + process.ppid], { detached: true, stdio: "ignore" }).unref();
if (where === "begin") process.kill(process.ppid, "SIGKILL");
`;

const head = `#!${process.execPath}
const fs = require("node:fs");
const request = JSON.parse(fs.readFileSync(0, "utf8"));
${saboteur}`;

const tail = `
process.stdout.write(JSON.stringify(document), () => {
  if (where === "printed") process.kill(process.ppid, "SIGKILL");
  if (where === "after") strike();
});
`;

const standInAgent = `${head}
const runs = request.state.runs ?? {};
const { type, payload } = request.event;
const ask = (run, step, tool) => ({
  type: "agentic.tool_request." + tool,
  dedupe_key: "agentic:run:" + run + ":step:" + step + ":request",
  event_id: "agentic." + run + "." + step + ".1.request",
  payload: { run_id: run, step, tool, attempt: 1, tool_command: "handle",
    agentic: { v: 1, run_id: run, step, tool, attempt: 1 } },
});
const turn = () => {
  if (type === "agentic.start") {
    const run = payload.run_id;
    if (runs[run] !== undefined) return [];
    runs[run] = { step: 1, status: "running", seen: [] };
    return [ask(run, 1, "fetch")];
  }
  const { run_id: id, step } = request.context.agentic;
  const run = runs[id];
  if (run === undefined || run.status !== "running" || step !== run.step) return [];
  const error = type === "agentic.tool_result" ? payload.error.code : null;
  run.seen.push(error ?? type);
  if (step < 2) { run.step = 2; return [ask(id, 2, "write")]; }
  run.status = "done";
  return [{ type: "agent.completed", event_id: "agentic." + id + ".completed", payload: { run_id: id } }];
};
const events = turn();
const document = { status: "ok", result: "turn", events, ...(events.length > 0 && { state_updates: { runs } }) };
${tail}`;

const standInTool = (type: string): string => `${head}
const document = { status: "ok", result: "did", events: [{ type: "${type}", payload: { n: 1 } }],
  state_updates: { count: (request.state.count ?? 0) + 1 } };
${tail}`;

const sink = shellPlugin(`cat > /dev/null; echo '{"status":"ok","result":"heard"}'`);

export const loopPlugins = {
  "agentic-loop": standInAgent,
  fetch: standInTool("content_ready"),
  write: standInTool("text.done"),
  sink,
};

const toolPipeline = (tool: string) => ({
  ...{ name: `tool-${tool}`, on: `agentic.tool_request.${tool}` },
  steps: [
    { id: "tool", uses: tool },
    { id: "resume", uses: "agentic-loop" },
  ],
});

export const loopPipelines = [
  { name: "start", on: "agentic.start", steps: [{ id: "agent", uses: "agentic-loop" }] },
  toolPipeline("fetch"),
  toolPipeline("write"),
  { name: "end", on: "agent.completed", steps: [{ id: "tell", uses: "sink" }] },
];
