// A server for measuring the debugger, and runs that move while somebody looks.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import type { Store } from "../src/engine/ports.ts";
import { systemClock } from "../src/engine/system-clock.ts";
import { noSettings } from "../src/host/run-settings.ts";
import { RunWorlds } from "../src/host/run-worlds.ts";
import { PackloopServer } from "../src/server/server.ts";
import { SideFile } from "../src/server/side-file.ts";
import { TokenFile } from "../src/server/tokens.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";

export interface WebServer extends AsyncDisposable {
  readonly url: string;
  readonly store: Store;
}

/** `web` is the folder of a built page; the one in dist when there is none. */
export async function webServer(folder: string, web: string | undefined): Promise<WebServer> {
  const path = join(folder, "runs.db");
  const store = await openSqliteStore(path);
  const clock = systemClock();
  const server = new PackloopServer({
    ...{ store, clock, host: "127.0.0.1", port: 0, tokenNeeded: false, version: "0.0.0" },
    worlds: new RunWorlds({ clock, env: () => undefined, storePath: path, warn: () => undefined }),
    settings: noSettings(folder),
    side: new SideFile(`${path}-server`),
    log: pino({ level: "silent" }),
    principalOf: () => undefined,
    tokens: new TokenFile(join(folder, "tokens.json")),
    rate: { perSecond: 100_000, burst: 100_000 },
    post: async () => ({ kind: "refused", why: "nothing is sent here" }),
    ...(web !== undefined && existsSync(web) && { webFolder: web }),
  });
  const { port } = await server.start();
  return { url: `http://127.0.0.1:${port}`, store, [Symbol.asyncDispose]: () => server.stop(0) };
}

const source = `id: moving
name: Moving
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  wait: { id: wait, name: Wait, version: 1.0.0, system_template: "Wait." }
  work: { id: work, name: Work, version: 1.0.0, system_template: "Work on {{artifacts.note}}." }
workflow:
  version: 2
  entry: here
  engine: { budget: { max_total_visits: 1000000 } }
  states:
    here: { prompt_task: wait, orchestration: external, on_event: { Go: there, Work: work } }
    there: { prompt_task: wait, orchestration: external, on_event: { Go: here } }
    work: { prompt_task: work, artifacts: { note: { type: text/plain } }, on_event: { Again: work, Enough: here } }
`;

/** Every round is a turn of so many: answered, written, entered, asked. */
export const FACTS_OF_ROUND = 4;

export interface Rounds {
  readonly rounds: number;
  /** Between two of them. */
  readonly delayMs: number;
}

/** A run that stands still until somebody moves it, then moves by itself for some rounds. */
export class MovingRun {
  readonly run: string;
  readonly #url: string;

  private constructor(url: string, run: string) {
    this.#url = url;
    this.run = run;
  }

  static async start(url: string, { rounds, delayMs }: Rounds): Promise<MovingRun> {
    const work = Array.from({ length: rounds }, (_, nth) => ({
      artifacts: { note: `note ${nth}` },
      event: nth === rounds - 1 ? "Enough" : "Again",
      delay_ms: delayMs,
    }));
    const { run } = (await send(`${url}/api/runs`, { pack: source, script: { states: { work } } })) as {
      readonly run: string;
    };
    return new MovingRun(url, run);
  }

  async send(event: string): Promise<void> {
    await send(`${this.#url}/api/runs/${this.run}/events`, { name: event });
  }

  /** A turn for each. */
  async step(events: number): Promise<void> {
    for (let nth = 0; nth < events; nth++) await this.send("Go");
  }
}

async function send(url: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
