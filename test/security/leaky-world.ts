// A project in which everything tells secrets: the model, each of its tools, their errors and their streams.

import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { bodyOf, testServer } from "../adapter/test-server.ts";
import { databaseUrl, KNOWN, LEAK } from "./canaries.ts";

const mcpProgram = fileURLToPath(new URL("../adapter/mcp/stdio-program.ts", import.meta.url));

const PACK = `id: leaky
name: Leaky
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  collect:
    id: collect
    name: C
    version: 1.0.0
    system_template: "STATE=collect"
    tools: [read_leak, exec_leak, exec_fail, page_leak, post_leak, post_fail, rows_leak, books, mcp_env, proc_leak]
    tool_policy: { max_tool_calls_per_turn: 20 }
  wait: { id: wait, name: W, version: 1.0.0, system_template: "STATE=wait {{artifacts.notes}}" }
  act: { id: act, name: A, version: 1.0.0, system_template: "STATE=act {{workflow_context}}", tools: [danger] }
  end: { id: end, name: E, version: 1.0.0, system_template: "STATE=end {{artifacts.notes}}" }
workflow:
  version: 2
  entry: collect
  states:
    collect:
      prompt_task: collect
      on_event: { Collected: wait }
      artifacts: { notes: { type: text/plain }, sent: { type: text/plain } }
    wait: { prompt_task: wait, orchestration: external, on_event: { Go: act } }
    act: { prompt_task: act, on_event: { Done: end } }
    end: { prompt_task: end, terminal: true }
  engine: { budget: { max_total_visits: 9, max_tool_calls: 50 } }
`;

const CALLS = [
  ...["read_leak", "exec_leak", "exec_fail", "page_leak", "post_leak", "post_fail", "rows_leak", "books"],
  ...["mcp_env", "proc_leak"],
];

export interface LeakyWorld {
  readonly env: Readonly<Record<string, string>>;
  /** How often the model was asked for a stream. */
  streams(): number;
  /** From now on the provider answers with this status and the leak. */
  fail(status: number): void;
}

/** Fills a folder with the project and starts the servers it speaks to. */
export async function leakyWorld(folder: string): Promise<LeakyWorld> {
  let streams = 0;
  let failing: number | undefined;
  const provider = await testServer((request, response) => {
    void bodyOf(request).then((text) => {
      const asked = JSON.parse(text) as Asked;
      if (asked.stream === true) streams++;
      if (failing === undefined) reply(asked, request, response);
      else response.writeHead(failing, { "content-type": "application/json" }).end(errorText(request));
    });
  });
  const desk = await testServer((request, response) => {
    const echo = `${LEAK}\n${JSON.stringify(request.headers)}`;
    if (request.url === "/fail") response.writeHead(400, { "content-type": "text/plain" }).end(echo);
    else response.writeHead(200, { "content-type": "text/plain" }).end(echo);
  });
  writeProject(folder, { provider: provider.url, desk: desk.url });
  return {
    env: { ...KNOWN, DB_URL: databaseUrl(await leakyDatabase()) },
    streams: () => streams,
    fail: (status) => {
      failing = status;
    },
  };
}

/** A server that refuses every PostgreSQL client and says with what it came. */
async function leakyDatabase(): Promise<number> {
  const server = createServer((socket) => {
    const words = ["SFATAL", "VFATAL", "C28P01", `Mno login with ${LEAK}`]
      .map((field) => `${field}\0`)
      .join("");
    const body = Buffer.from(`${words}\0`);
    const head = Buffer.from([0x45, 0, 0, 0, 0]);
    head.writeInt32BE(body.length + 4, 1);
    socket.once("data", () => socket.end(Buffer.concat([head, body])));
    // A client that goes away has heard enough.
    socket.on("error", () => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

interface Asked {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

const errorText = (request: IncomingMessage): string =>
  JSON.stringify({ error: { message: `bad key ${JSON.stringify(request.headers)}`, type: "x", code: LEAK } });

interface Said {
  readonly text: string;
  readonly calls: readonly (readonly [tool: string, args: object])[];
}

function answerTo({ messages }: Asked): Said {
  const state = /STATE=(\w+)/.exec(String(messages[0]?.content))?.[1];
  const isFirst = !messages.some(({ role }) => role === "tool");
  const set = ["workflow__set_artifact", { name: "notes", value: LEAK }] as const;
  const go = (event: string) => ["workflow__transition", { event, context: LEAK }] as const;
  if (state === "collect" && isFirst)
    return { text: LEAK, calls: CALLS.map((tool) => [tool, argumentsOf(tool)] as const) };
  if (state === "collect") return { text: LEAK, calls: [set, go("Collected")] };
  if (state === "act") return { text: "", calls: isFirst ? [["danger", { q: LEAK }]] : [go("Done")] };
  return { text: LEAK, calls: [] };
}

function argumentsOf(tool: string): object {
  if (tool === "read_leak") return { path: "leak.txt" };
  if (tool === "rows_leak" || tool === "books") return { sql: "SELECT text FROM leaks" };
  if (tool === "page_leak") return {};
  return tool === "mcp_env" ? { name: "OWN_TOKEN" } : { q: LEAK };
}

function reply(asked: Asked, request: IncomingMessage, response: ServerResponse): void {
  const { text, calls } = answerTo(asked);
  const words = text === "" ? "" : `${text}\n${JSON.stringify(request.headers)}`;
  const tool_calls = calls.map(([name, args], index) => ({
    ...{ index, id: `call_${index}`, type: "function" },
    function: { name, arguments: JSON.stringify(args) },
  }));
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  const head = { id: "x", object: "chat.completion", created: 1, model: "m" };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (asked.stream !== true) {
    const message = { role: "assistant", content: words, ...(calls.length > 0 && { tool_calls }) };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason }], usage }));
    return;
  }
  response.setHeader("content-type", "text/event-stream");
  const send = (delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  // Secrets come in pieces.
  for (const content of words.match(/[\s\S]{1,7}/g) ?? []) send({ content });
  if (calls.length > 0) send({ tool_calls });
  send({}, finish_reason);
  response.end("data: [DONE]\n\n");
}

function writeProject(folder: string, { provider, desk }: { provider: string; desk: string }): void {
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, "workspace"));
  put("pack.yaml", PACK);
  put("workspace/leak.txt", LEAK);
  put("leak.json", JSON.stringify({ ok: { usage: 1, extra: LEAK, [LEAK]: [LEAK] } }));
  put("leak.sh", "#!/bin/sh\ncat leak.json\n");
  put("fail.sh", '#!/bin/sh\nsed "s/^/fatal: /" workspace/leak.txt | head -c 1500 >&2\nexit 3\n');
  for (const script of ["leak.sh", "fail.sh"]) chmodSync(join(folder, script), 0o755);
  const database = new DatabaseSync(join(folder, "leaks.db"));
  database.exec("CREATE TABLE leaks (text TEXT)");
  database.prepare("INSERT INTO leaks VALUES (?)").run(LEAK);
  database.close();
  const mcp = { command: [process.execPath, mcpProgram], env: ["OWN_TOKEN"] };
  put("packloop.yaml", JSON.stringify(settings({ provider, desk, mcp }), null, 2));
}

function settings({ provider, desk, mcp }: { provider: string; desk: string; mcp: object }) {
  const auto = { approval: "auto" };
  return {
    model: {
      ...{ provider: "openai-compatible", base_url: `${provider}/v1`, model: "m" },
      ...{ api_key_env: "LOCAL_KEY", headers_env: { "x-team": "MODEL_HEADER" } },
    },
    providers: { other: { provider: "openai", model: "m", api_key_env: "OTHER_MODEL_KEY" } },
    secrets: ["LISTED_SECRET", "MULTI_WORD"],
    workspace: "workspace",
    tools: {
      read_leak: { builtin: "fs", op: "read" },
      exec_leak: { exec: ["./leak.sh"], env: ["EXEC_SECRET"], ...auto },
      exec_fail: { exec: ["./fail.sh"], ...auto },
      page_leak: {
        http: { url: `${desk}/page`, method: "GET", headers: { "x-page_env": "PAGE_TOKEN" } },
        ...auto,
      },
      post_leak: {
        http: { url: `${desk}/post`, bearer_env: "POST_TOKEN", headers: { "X-Key_env": "POST_HEADER" } },
        ...auto,
      },
      post_fail: { http: { url: `${desk}/fail`, bearer_env: "POST_TOKEN" }, ...auto },
      rows_leak: { builtin: "sql", path: "leaks.db" },
      books: { builtin: "sql", url_env: "DB_URL" },
      mcp_env: { mcp, tool: "env", ...auto },
      proc_leak: {
        builtin: "proc",
        argv: ["cat", "leak.txt"],
        env: ["PROC_PASSWORD"],
        sandbox: "none",
        ...auto,
      },
      danger: { exec: ["./leak.sh"] },
    },
  };
}
