// A server of its own for a test, on a free port, and a client that holds every answer against the document of
// the API: its status must be documented there, and its body must fit the schema of that status.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import type { Store } from "../../src/engine/ports.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { noSettings, type RunSettings } from "../../src/host/run-settings.ts";
import { RunWorlds } from "../../src/host/run-worlds.ts";
import { openApiDocument } from "../../src/server/openapi.ts";
import { allRoutes } from "../../src/server/routes.ts";
import { PackloopServer, type ServerOptions } from "../../src/server/server.ts";
import type { ServerParts } from "../../src/server/server-parts.ts";
import { SideFile } from "../../src/server/side-file.ts";
import { TokenFile } from "../../src/server/tokens.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

export interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Served {
  readonly url: string;
  readonly server: PackloopServer;
  readonly store: Store;
  readonly folder: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Looks until the run is as wanted. */
  until(run: string, wanted: (summary: Summary) => boolean): Promise<Summary>;
  stop(graceMs?: number): Promise<void>;
}

export interface ServeOptions extends Partial<ServerOptions> {
  /** A folder that another server left. */
  readonly folder?: string;
}

interface Made {
  readonly server: PackloopServer;
  readonly store: Store;
  readonly folder: string;
}

async function made(options: ServeOptions): Promise<Made> {
  const folder = options.folder ?? temporaryFolder();
  const path = join(folder, "runs.db");
  const store = options.store ?? (await openSqliteStore(path));
  const clock = options.clock ?? systemClock();
  const worlds = new RunWorlds({ clock, env: () => undefined, storePath: path, warn: () => undefined });
  const settings: RunSettings = noSettings(folder);
  const server = new PackloopServer({
    ...{ worlds, settings, side: new SideFile(`${path}-server`), log: pino({ level: "silent" }) },
    version: "0.0.0",
    host: "127.0.0.1",
    port: 0,
    tokenNeeded: false,
    principalOf: () => undefined,
    tokens: new TokenFile(join(folder, "tokens.json")),
    rate: { perSecond: 100_000, burst: 100_000 },
    post: async () => ({ kind: "refused", why: "tests that send say how" }),
    ...options,
    ...{ store, clock },
  });
  return { server, store, folder };
}

/** What routes and protocols work with, without an address. */
export async function servedParts(options: ServeOptions = {}): Promise<ServerParts> {
  const { server } = await made(options);
  onTestFinished(() => server.stop(0));
  return await server.startUnheard();
}

export async function served(options: ServeOptions = {}): Promise<Served> {
  const { server, store, folder } = await made(options);
  const { port } = await server.start();
  const url = `http://127.0.0.1:${port}`;
  let stopped: Promise<void> | undefined;
  const stop = (graceMs = 0): Promise<void> => (stopped ??= server.stop(graceMs));
  onTestFinished(() => stop());
  const call: Served["call"] = (method, where, given) => request(url, method, where, given);
  return {
    ...{ url, server, store, folder, call, stop },
    get: (where, headers = {}) => call("GET", where, { headers }),
    post: (where, body, headers = {}) =>
      call("POST", where, { headers, ...(body !== undefined && { body }) }),
    until: (run, wanted) => until(url, run, wanted),
  };
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "packloop-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function request(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { body, raw, headers = {} } = options;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(raw !== undefined && { body: raw }),
  });
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  const value = type.includes("json") ? (JSON.parse(text) as JsonObject) : ({ text } as JsonObject);
  conforms(method, new URL(`${url}${path}`).pathname, response, value);
  return { status: response.status, headers: response.headers, body: value };
}

/** The run's summary comes by following it, so nothing is asked in a loop without end. */
async function until(url: string, run: string, wanted: (summary: Summary) => boolean): Promise<Summary> {
  const look = async () =>
    (await request(url, "GET", `/api/runs/${encodeURIComponent(run)}`)).body as unknown as Summary;
  const stream = await fetch(`${url}/api/runs/${encodeURIComponent(run)}/stream`);
  const first = await look();
  if (wanted(first) || stream.body === null) {
    await stream.body?.cancel();
    return first;
  }
  for await (const _chunk of stream.body) {
    const summary = await look();
    if (wanted(summary)) return summary;
  }
  const last = await look();
  if (wanted(last)) return last;
  throw new Error(`run ${run} ended as ${last.status}: ${JSON.stringify(last.reason)}`);
}

export const document = openApiDocument(allRoutes(), "0.0.0");

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "api");
const compiled = new Map<string, ValidateFunction>();

function conforms(method: string, path: string, response: Response, body: Json): void {
  const { status } = response;
  const type = (response.headers.get("content-type") ?? "").split(";", 1)[0] ?? "";
  if (status >= 400 && type !== "application/problem+json")
    throw new Error(`${method} ${path} failed with ${status} and ${type || "no type"}`);
  const found = allRoutes().find(
    (route) =>
      route.method === method.toLowerCase() &&
      new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
  if (found === undefined) return;
  const operation = (document["paths"] as Record<string, Record<string, { responses: JsonObject }>>)[
    found.path
  ]?.[found.method];
  if (operation?.responses[String(status)] === undefined)
    throw new Error(`${method} ${found.path} answered ${status}, which is not documented`);
  if (!type.includes("json")) return;
  const pointer = ["paths", found.path, found.method, "responses", String(status), "content", type, "schema"];
  const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")));
  const ref = `api#/${escaped.join("/")}`;
  const validate = compiled.get(ref) ?? ajv.compile({ $ref: ref });
  compiled.set(ref, validate);
  if (!validate(body))
    throw new Error(
      `${method} ${found.path} ${status}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(body)}`,
    );
}
