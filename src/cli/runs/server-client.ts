// A server that owns the store: found by what its lock names, and asked over HTTP. Its problems become the
// exit codes that the same refusal has without a server.

import type { JsonObject } from "../../base/json.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Summary } from "../../core/summary.ts";
import type { TakenRun } from "../../host/take-run.ts";
import { PROBLEMS } from "../../server/problem.ts";
import { ExitError, exits } from "../exit.ts";
import { chosenStore, isDatabase } from "./open-store.ts";
import { announcedServer } from "./store-owner.ts";
import { callersTrace } from "./telemetry.ts";

/** Somebody who does not answer so soon is not there. */
const PROBE_MS = 2_000;

/** The server that has the store open, when there is one on this machine. */
export async function runningServer(store: string | undefined): Promise<ServerClient | undefined> {
  const path = chosenStore(store);
  // A database has no owner: everybody writes to it.
  const url = isDatabase(path) ? undefined : announcedServer(path);
  if (url === undefined) return undefined;
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(PROBE_MS) });
    return response.ok ? new ServerClient(url) : undefined;
  } catch {
    // It was killed and left its address behind; whoever opens the store next is told who holds it.
    return undefined;
  }
}

export class ServerClient {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** The summary that a request about a run is answered with. */
  async post(
    path: string,
    body: JsonObject,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answered> {
    const response = await this.#fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...callersTrace(), ...headers },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Answered;
  }

  /** A run that has ended, with the runs of its agents; their names. */
  async remove(run: string): Promise<readonly string[]> {
    const response = await this.#fetch(runPath(run), { method: "DELETE" });
    return ((await response.json()) as { readonly removed: readonly string[] }).removed;
  }

  /** A run as its file has it. */
  async take(file: Buffer): Promise<TakenRun & { readonly agents?: readonly TakenRun[] }> {
    const headers = { "content-type": "application/x-ndjson" };
    const response = await this.#fetch("/api/runs/import", {
      ...{ method: "POST", headers, body: new Uint8Array(file) },
    });
    return (await response.json()) as TakenRun & { readonly agents?: readonly TakenRun[] };
  }

  async summary(run: string): Promise<Summary> {
    return (await (await this.#fetch(runPath(run), {})).json()) as Summary;
  }

  /** Turns after the one given, as they come, until the run has ended or the signal is given. */
  async *turns(run: string, after: number, signal: AbortSignal): AsyncGenerator<TurnRow> {
    let seen = after;
    while (!signal.aborted) {
      try {
        const response = await this.#fetch(`${runPath(run)}/stream?after=${seen}`, { signal });
        if (response.status === 204 || response.body === null) return;
        for await (const event of eventsIn(response.body)) {
          if (event.name === "end") return;
          if (event.name !== "turn") continue;
          const row = event.data as Omit<TurnRow, "at"> & { readonly at: string };
          seen = row.turn;
          yield { turn: row.turn, at: Date.parse(row.at), v: row.v, facts: row.facts };
        }
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
    }
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const token = process.env["PACKLOOP_TOKEN"];
    const headers = {
      ...(init.headers as Record<string, string> | undefined),
      ...(token !== undefined && token !== "" && { authorization: `Bearer ${token}` }),
    };
    let response: Response;
    try {
      response = await fetch(`${this.url}${path}`, { ...init, headers });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw new ExitError(`the server at ${this.url}, which holds the store, does not answer`, exits.locked);
    }
    if (response.ok) return response;
    throw problemError((await response.json().catch(() => ({}))) as Problem, response.status);
  }
}

export type Answered = Summary & { readonly ignored?: true; readonly ignored_because?: string };

export const runPath = (run: string): string => `/api/runs/${encodeURIComponent(run)}`;

interface Problem {
  readonly code?: string;
  readonly detail?: string;
}

/** What the server answered in place of what was asked for. */
export class ServerProblem extends ExitError {
  readonly status: number;

  constructor(message: string, { exit, status }: { readonly exit: number; readonly status: number }) {
    super(message, exit);
    this.status = status;
  }
}

function problemError({ code = "", detail = "" }: Problem, status: number): ServerProblem {
  const known = Object.entries(PROBLEMS).find(([name]) => name === code)?.[1];
  const exit = known?.[1] ?? (status >= 500 ? exits.defect : exits.usage);
  return new ServerProblem(detail === "" ? `the server answered ${status}` : detail, { exit, status });
}

async function* eventsIn(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly name: string; readonly data: unknown }> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (name !== undefined && data !== undefined) yield { name, data: JSON.parse(data) as unknown };
    }
  }
}
