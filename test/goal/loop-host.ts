// A host in miniature: keeps the plugin's state, merges it as hosts do, and judges every response by the rules
// of both generations. The plugin runs in this process, or as the process it is.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { get, isObject, type Json, type JsonObject, put } from "../../src/base/json.ts";
import { answerRequest } from "../../src/goal-plugin/answer-request.ts";
import { readRequest } from "../../src/goal-plugin/loop-request.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** What the build made, else the sources. */
export function pluginArguments(): readonly string[] {
  const built = join(root, "plugins/agentic-loop/agentic-loop.mjs");
  return [existsSync(built) ? built : join(root, "src/goal-plugin/main.ts")];
}

export interface Emitted {
  readonly type: string;
  readonly payload: JsonObject;
  readonly dedupe_key: string;
  readonly event_id: string;
}

export interface Response {
  readonly status: "ok" | "error";
  readonly result: string;
  readonly error?: string;
  readonly retry?: boolean;
  readonly events?: readonly Emitted[];
  readonly state_updates?: JsonObject;
  readonly logs?: readonly { readonly level: string; readonly message: string }[];
}

export interface Job {
  readonly jobId?: string;
  readonly context?: JsonObject;
  readonly payload?: JsonObject;
  readonly workspaceDir?: string;
  /** A host that saved the response's state and lost what was routed from it, or the other way round. */
  readonly state?: JsonObject;
}

export class LoopHost {
  readonly folder = mkdtempSync(join(tmpdir(), "packloop-goal-"));
  readonly config: Record<string, Json>;
  state: JsonObject = {};
  now = Date.parse("2026-02-17T09:00:00Z");
  workspaceDir: string | undefined;
  /** Every response, in order. */
  readonly responses: Response[] = [];
  #jobs = 0;

  constructor(turns: readonly Json[], config: JsonObject = {}) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    this.workspaceDir = join(this.folder, "workspaces", "root");
    this.config = {
      allowed_plugins: ["jina-reader", "fabric"],
      script: join(this.folder, "script.json"),
      ...config,
    };
    this.rewrite(turns);
  }

  rewrite(turns: readonly Json[]): void {
    writeFileSync(join(this.folder, "script.json"), JSON.stringify({ turns }));
  }

  start(payload: JsonObject = { goal: "g", run_id: "R1" }, job: Job = {}): Promise<Response> {
    return this.handle({ type: "agentic.start", payload }, job);
  }

  /** The tool's own event, as our gateway and the pipelines we ship hand it on. */
  answer(request: Emitted, result: JsonObject, job: Job = {}): Promise<Response> {
    const event = { type: "tool.done", payload: result, timestamp: "2026-02-17T09:00:05Z", event_id: "e" };
    return this.handle(event, { context: contextOf(request), payload: event, ...job });
  }

  explicit(request: Emitted, more: JsonObject, job: Job = {}): Promise<Response> {
    const { run_id, step, tool } = request.payload as Record<string, Json>;
    const payload = { run_id, step, tool, ...more } as JsonObject;
    return this.handle({ type: "agentic.tool_result", payload }, { context: contextOf(request), ...job });
  }

  handle(event: JsonObject, job: Job = {}): Promise<Response> {
    return this.perform("handle", { ...job, event });
  }

  poll(job: Job = {}): Promise<Response> {
    return this.perform("poll", job);
  }

  run(id = "R1"): JsonObject {
    const run = get(get(this.state, "runs"), id);
    if (!isObject(run)) throw new Error(`run ${id} is not in the state`);
    return run;
  }

  request(
    command: string,
    { jobId, context, payload, event, workspaceDir, state }: Job & { event?: JsonObject },
  ): JsonObject {
    this.#jobs++;
    const folder = workspaceDir ?? this.workspaceDir;
    return {
      protocol: 2,
      job_id: jobId ?? `job-${this.#jobs}`,
      command,
      config: this.config,
      state: state ?? this.state,
      ...(context !== undefined && { context }),
      ...(folder !== undefined && { workspace_dir: folder }),
      ...(payload !== undefined && { payload }),
      ...(event !== undefined && { event }),
      deadline_at: new Date(this.now + 120_000).toISOString(),
    };
  }

  async perform(command: string, job: Job & { event?: JsonObject }): Promise<Response> {
    const text = JSON.stringify(this.request(command, job));
    const request = readRequest(text, this.folder);
    if (request === undefined) throw new Error("not a request");
    const response = await answerRequest(request, { clock: () => this.now, cwd: this.folder });
    return this.take(response as unknown as Response);
  }

  take(response: Response): Response {
    const problems = problemsOf(response as unknown as JsonObject);
    if (problems.length > 0) throw new Error(`not a valid response: ${problems.join(", ")}`);
    this.responses.push(response);
    const merged: Record<string, Json> = { ...this.state };
    // Hosts serialise anew: the order of keys does not survive.
    for (const [key, value] of Object.entries(response.state_updates ?? {}))
      put(merged, key, reordered(value));
    this.state = merged;
    return response;
  }
}

export function onlyEvent(response: Response): Emitted {
  expect(response.events?.length, JSON.stringify(response)).toBe(1);
  return response.events?.[0] as Emitted;
}

export const contextOf = ({ payload }: Emitted): JsonObject => ({ agentic: payload["agentic"] as Json });

/** The plugin as a process, fed one text. */
export function runPlugin(stdin: string, cwd: string) {
  const ended = spawnSync(process.execPath, [...pluginArguments()], { input: stdin, cwd, encoding: "utf8" });
  return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
}

const KEYS = new Set(["status", "result", "error", "retry", "events", "state_updates", "logs"]);
const EVENT_KEYS = new Set(["type", "payload", "dedupe_key", "event_id"]);

/** The rules of gen-1 and gen-2 together: types are strict, `result` is never blank. */
export function problemsOf(response: JsonObject): readonly string[] {
  const found: string[] = [];
  const say = (isWrong: boolean, what: string) => void (isWrong && found.push(what));
  const { status, result, error, retry, events, state_updates: updates, logs } = response;
  for (const key of Object.keys(response)) say(!KEYS.has(key), `unknown key ${key}`);
  say(status !== "ok" && status !== "error", "status");
  say(typeof result !== "string" || result.trim() === "" || result.length > 200, "result");
  say(status === "error" ? typeof error !== "string" || error === "" : error !== undefined, "error");
  say(retry !== undefined && typeof retry !== "boolean", "retry");
  say(updates !== undefined && !isObject(updates), "state_updates");
  for (const event of (events ?? []) as readonly JsonObject[]) {
    say(!isObject(event["payload"]), "payload");
    say(
      typeof event["type"] !== "string" || /\s|^$/.test(event["type"]) || event["type"].length > 200,
      "type",
    );
    for (const key of Object.keys(event)) say(!EVENT_KEYS.has(key), `event has ${key}`);
  }
  for (const log of (logs ?? []) as readonly JsonObject[])
    say(
      !["debug", "info", "warn", "error"].includes(String(log["level"])) ||
        typeof log["message"] !== "string",
      "logs",
    );
  say(Buffer.byteLength(goText(response["state_updates"] ?? {})) > 1_048_576, "state over the cap");
  say(Buffer.byteLength(JSON.stringify(response)) > 1_048_576, "response over the cap");
  return found;
}

/** As a host in Go writes it. */
export const goText = (value: Json): string =>
  JSON.stringify(value)
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");

function reordered(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => reordered(one));
  if (!isObject(value)) return value;
  const object: Record<string, Json> = {};
  for (const key of Object.keys(value).sort().reverse()) put(object, key, reordered(value[key] as Json));
  return object;
}
