// One database, several programs: command lines in folders of their own, servers with and without workers, and
// workers. All see the same runs, and each goes on with what another began.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Summary } from "../../src/core/summary.ts";
import * as tree from "../agents/tree-pack.ts";
import { folderWith, packloop, type Ran, startPackloop } from "../cli/run-cli.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "../postgres-server.ts";
import { readEvents } from "../server/event-reader.ts";
import { asks, ends, pack, start } from "../server/sample-pack.ts";
import { serveProcess } from "../server/serve-process.ts";

const MINUTES = 60_000;
const files = {
  "pack.yaml": pack,
  "asks.json": JSON.stringify(asks),
  "ends.json": JSON.stringify(ends),
};
const run = (script: string, ...more: readonly string[]) => [
  ...["run", "pack.yaml", "--script", script, "--var", "task=it", "--json"],
  ...more,
];

describe.skipIf(postgresMissing() !== undefined)("a PostgreSQL server", { timeout: 5 * MINUTES }, () => {
  let server: PostgresServer;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const nextUrl = () => `${server.url()}&schema=together${++count}`;

  /** A command line in a folder of its own. */
  function person(url: string, has: Readonly<Record<string, string>> = files) {
    const folder = folderWith(has);
    onTestFinished(() => folder[Symbol.dispose]());
    return (...args: readonly string[]): Ran =>
      packloop(args, { cwd: folder.path, env: { PACKLOOP_STORE: url } });
  }

  async function served(url: string, ...args: readonly string[]): Promise<string> {
    const folder = folderWith({});
    onTestFinished(() => folder[Symbol.dispose]());
    return (await serveProcess(folder.path, "--store", url, ...args)).url;
  }

  /** Gives what kills it. */
  async function worker(url: string): Promise<() => Promise<unknown>> {
    const folder = folderWith({});
    const started = startPackloop(["worker", "--store", url], folder.path);
    const kill = () => started.stop("SIGKILL");
    onTestFinished(async () => {
      await kill();
      folder[Symbol.dispose]();
    });
    await started.until((text) => text.includes("working ("));
    return kill;
  }

  test("two command lines and a server see the same runs and go on with each other's", async () => {
    const url = nextUrl();
    const [anna, ben] = [person(url), person(url)];
    const begun = anna(...run("asks.json"));
    expect([begun.code, begun.stderr]).toEqual([10, ""]);
    const { run: id, turns } = summaryIn(begun);
    expect(runsIn(ben("ls", "--json"))).toEqual([id]);
    expect(ben("inbox", "--json").stdout).toContain(id);
    const api = await served(url);
    const listed = (await get(`${api}/api/runs`)) as { items: readonly { run: string }[] };
    expect(listed.items.map((one) => one.run)).toEqual([id]);

    // The server drives what a command line has only made.
    const forked = anna("fork", `${id}@${(turns ?? 0) - 1}`, "--json");
    expect([forked.code, forked.stderr]).toEqual([0, ""]);
    const fork = summaryIn(forked).run;
    await until(async () => summaryIn(ben("show", fork, "--json")).state === "gate");

    await post(`${api}/api/runs/${id}/events`, { name: "Yes", by: "somebody" });
    await until(async () => summaryIn(anna("show", id, "--json")).status === "completed");
    expect(summaryIn(ben("send", fork, "Yes", "--by", "ben", "--json", "--follow")).status).toBe("completed");
    expect(anna("verify", "--all").code).toBe(0);
    expect(anna("rm", id, "--yes").code).toBe(0);
    expect(ben("show", id).code).toBe(5);
  });

  test("who follows a run at a server sees what workers do with it", async () => {
    const url = nextUrl();
    const api = await served(url, "--no-workers");
    await worker(url);
    const { run: id } = (await post(`${api}/api/runs`, start(asks))) as Summary;
    const followed = readEvents(api, `/api/runs/${id}/stream?after=0`);
    await until(async () => ((await get(`${api}/api/runs/${id}`)) as Summary).state === "gate");
    expect(person(url)("send", id, "Yes", "--by", "anna").code).toBe(0);
    const { events, ended } = await followed;
    expect(ended).toBe(true);
    expect(events.at(-1)).toMatchObject({ name: "end", data: { run: id, status: "completed" } });
    const turns = events.filter(({ name }) => name === "turn").map((event) => event.id);
    expect(turns).toEqual(turns.map((_, index) => index + 1));
    expect(turns.length).toBeGreaterThan(5);
    const all = await readPlaces(api, turns.length);
    expect(all).toEqual(turns.map((turn) => ({ run: id, turn })));
  });

  test("an answer that is given while no worker lives is heard up the tree of agents by the next", async () => {
    const url = nextUrl();
    const anna = person(url, tree.files);
    expect(anna(...tree.start, "--detach").code).toBe(0);
    const kill = await worker(url);
    let guard: string | undefined;
    await until(async () => {
      [guard] = /r_\w+\/\d+\/\d+/.exec(anna("inbox", "--json").stdout) ?? [];
      return guard !== undefined;
    });
    await kill();
    expect(anna("send", guard ?? "", "Approved", "--by", "anna").code).toBe(0);
    await worker(url);
    const lead = guard?.split("/")[0] ?? "";
    await until(async () => summaryIn(anna("show", lead, "--json")).status === "completed");
    expect(anna("verify", "--all").code).toBe(0);
  });

  test("runs move between a file and the database and keep their hashes", () => {
    const anna = person(nextUrl());
    const { run: id } = summaryIn(anna(...run("ends.json", "--store", "runs.db")));
    const first = anna("export", id, "--store", "runs.db").stdout;
    expect(anna("export", id, "--store", "runs.db", "--out", "one.json").code).toBe(0);
    expect(anna("import", "one.json")).toMatchObject({ code: 0, stderr: "" });
    expect(anna("verify", id)).toMatchObject({ code: 0 });
    expect(anna("export", id).stdout).toBe(first);
    expect(anna("export", id, "--out", "two.json").code).toBe(0);
    expect(anna("import", "two.json", "--store", "other.db")).toMatchObject({ code: 0, stderr: "" });
    expect(anna("verify", id, "--store", "other.db")).toMatchObject({ code: 0 });
    expect(anna("export", id, "--store", "other.db").stdout).toBe(first);
  });

  test("finished runs are collected for everybody", () => {
    const url = nextUrl();
    const [anna, ben] = [person(url), person(url)];
    expect(anna(...run("ends.json")).code).toBe(0);
    const { run: waits } = summaryIn(anna(...run("asks.json")));
    expect(ben("gc", "--keep", "0d", "--yes")).toMatchObject({ code: 0 });
    expect(runsIn(anna("ls", "--json"))).toEqual([waits]);
  });

  test("a server on a file refuses to be without workers", () => {
    const { code, stderr } = person(nextUrl())("serve", "--no-workers", "--store", "runs.db");
    expect([code, stderr]).toEqual([
      2,
      "error: `--no-workers` needs a PostgreSQL store: nobody else can drive the runs of a file\n",
    ]);
  });
});

const summaryIn = ({ stdout, stderr }: Ran): Summary & { readonly turns?: number } => {
  const line = stdout.trim().startsWith("{\n") ? stdout : (stdout.trim().split("\n").at(-1) ?? "");
  if (line === "") throw new Error(`no summary: ${stderr}`);
  return JSON.parse(line) as Summary;
};

const runsIn = ({ stdout }: Ran): readonly string[] =>
  (JSON.parse(stdout) as readonly { run: string }[]).map((one) => one.run);

async function get(url: string): Promise<unknown> {
  const response = await fetch(url);
  return response.json();
}

async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** What others do is seen after a moment; the test's own limit ends it. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}

/** So many turns as followers of all runs see them. */
async function readPlaces(api: string, count: number): Promise<readonly unknown[]> {
  const response = await fetch(`${api}/api/stream?after=0`);
  const found: unknown[] = [];
  let text = "";
  for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += chunk;
    found.length = 0;
    for (const [, data = ""] of text.matchAll(/^event: turn\ndata: (.*)$/gm)) {
      const { run, turn } = JSON.parse(data) as { run: string; turn: number };
      found.push({ run, turn });
    }
    if (found.length >= count) break;
  }
  return found;
}
