// `packloop serve --read-only`: runs that others drive are shown, and nothing is changed.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { runFolder } from "../cli/run-folder.ts";
import { readEvents } from "./event-reader.ts";
import { serveProcess } from "./serve-process.ts";
import { served } from "./served.ts";

const pack = `id: p
name: P
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  one: { id: one, name: One, version: 1.0.0, system_template: Work. }
workflow:
  version: 2
  entry: gate
  states:
    gate: { prompt_task: one, orchestration: external, on_event: { Go: end } }
    end: { prompt_task: one, terminal: true }
`;
const script = "states: { end: [{ text: Bye. }] }\n";

test("it shows a run that goes on elsewhere, refuses every change, and leaves no file", async () => {
  using folder = runFolder({ "p.pack.yaml": pack, "script.yaml": script });
  const { summary } = folder.summary(["run", "p.pack.yaml", "--script", "script.yaml"]);
  const server = await serveProcess(folder.path, "--read-only");
  const ask = async (method: string, path: string, body: string | null = null) => {
    const headers = body === null ? {} : { "content-type": "application/json" };
    const response = await fetch(`${server.url}${path}`, { method, headers, body });
    return { status: response.status, text: await response.text() };
  };
  const at = `/api/runs/${summary.run}`;
  expect(JSON.parse((await ask("GET", at)).text)).toMatchObject({ run: summary.run, status: "waiting" });
  expect((await ask("GET", "/readyz")).status).toBe(200);
  const changes: readonly (readonly [string, string, string | null])[] = [
    ["POST", `${at}/events`, '{"name":"Go"}'],
    ["POST", `${at}/messages`, '{"text":"hello"}'],
    ["POST", `${at}/cancel`, "{}"],
    ["POST", `${at}/pause`, "{}"],
    ["POST", `${at}/fork`, '{"turn":1}'],
    ["POST", "/api/runs", JSON.stringify({ pack })],
    ["POST", "/api/packs", JSON.stringify({ pack })],
    ["POST", "/api/webhooks", '{"url":"http://127.0.0.1:1/"}'],
    ["DELETE", at, null],
  ];
  for (const [method, path, body] of changes) {
    const { status, text } = await ask(method, path, body);
    expect([path, status, text]).toEqual([path, 403, expect.stringContaining("--read-only")]);
  }
  // Nobody is in the way of whoever drives the run.
  const following = readEvents(server.url, `${at}/stream`);
  expect(folder.cli(["send", "@", "Go", "--follow"]).code).toBe(0);
  const { events } = await following;
  expect(events.at(-1)).toMatchObject({ name: "end", data: { status: "completed" } });
  expect(await server.stop("SIGTERM")).toBe(0);
  expect(existsSync(`${folder.store}-server`)).toBe(false);
});

test("a token that may not even look is told so", async () => {
  const principalOf = () => ({ name: "sender", scopes: ["events:send"] as const });
  const server = await served({ readOnly: true, tokenNeeded: true, principalOf });
  const authorization = "Bearer t";
  const looked = await server.get("/api/runs", { authorization });
  expect([looked.status, looked.body["detail"]]).toEqual([403, "the token lacks the scope `runs:read`"]);
  const sent = await server.post("/api/runs/r_1/events", { name: "Go" }, { authorization });
  expect([sent.status, sent.body["detail"]]).toEqual([403, expect.stringContaining("--read-only")]);
});

test("a store that is not there is not made", () => {
  using folder = runFolder();
  const ran = folder.cli(["serve", "--read-only", "--port", "0"]);
  expect(ran.code).toBe(5);
  expect(existsSync(folder.store)).toBe(false);
});
