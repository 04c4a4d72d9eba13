// Following runs: nothing is lost and nothing comes twice, whoever hangs up, however slow a reader is.

import { once } from "node:events";
import { join } from "node:path";
import { EventSource } from "eventsource";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { ModelReply, TurnRow } from "../../src/core/facts.ts";
import type { CallContext, Store } from "../../src/engine/ports.ts";
import { runEvents } from "../../src/server/event-text.ts";
import { Feed } from "../../src/server/feed.ts";
import { SideFile } from "../../src/server/side-file.ts";
import { TICKET_MS, Tickets } from "../../src/server/tickets.ts";
import { bearer, principalOf } from "./callers.ts";
import { changedWorlds } from "./changed-worlds.ts";
import { dice } from "./dice.ts";
import { eventsIn, firstBytes, openStream, readEvents } from "./event-reader.ts";
import { ends, pack, start } from "./sample-pack.ts";
import { type Served, type ServeOptions, served } from "./served.ts";
import { completed, startedRun, waiting } from "./started-run.ts";

/** Goes round so often, with a note of this length each time. */
function rounds(count: number, { length = 10, delay = 0 } = {}): JsonObject {
  const note = "x".repeat(length);
  const again = { artifacts: { note }, event: "Again", ...(delay > 0 && { delay_ms: delay }) };
  const work = [...Array.from({ length: count - 1 }, () => again), { event: "Done" }];
  const many = pack.replace("max_total_visits: 20", `max_total_visits: ${count + 5}`);
  return start({ states: { work, end: [{ text: "Bye." }] } }, { pack: many });
}

const journal = (server: Served, run: string): Promise<readonly TurnRow[]> =>
  server.store.rows(run, { from: 1, to: Number.MAX_SAFE_INTEGER, limit: 100_000 });

describe("one run", () => {
  test("all its turns come in order, and the stream ends with the run", async () => {
    const server = await served();
    const run = await startedRun(server, start(ends));
    const { events, ended } = await readEvents(server.url, `/api/runs/${run}/stream`);
    const rows = await journal(server, run);
    expect(ended).toBe(true);
    expect(events.map(({ name }) => name)).toEqual(["snapshot", ...rows.map(() => "turn"), "end"]);
    expect(events[0]).toMatchObject({ id: undefined, data: { run, pack: { id: "served" } } });
    expect(events.slice(1, -1).map(({ id }) => id)).toEqual(rows.map(({ turn }) => turn));
    expect(events.slice(1, -1).map(({ data }) => (data as TurnRow).facts)).toEqual(
      rows.map(({ facts }) => facts),
    );
    expect(events.at(-1)?.data).toEqual({ run, status: "completed", turns: rows.length });
  });

  test("a reader that hangs up a hundred times at any byte misses nothing and gets nothing twice", async () => {
    const server = await served();
    const run = await startedRun(server, rounds(150, { delay: 5 }));
    const roll = dice(4711);
    const seen: number[] = [];
    const facts: unknown[] = [];
    let hungUp = 0;
    for (let over = false; !over; ) {
      const bytes = hungUp < 100 ? { bytes: 200 + roll(1_500) } : {};
      const after = seen.at(-1);
      const taken = await readEvents(server.url, `/api/runs/${run}/stream`, {
        ...bytes,
        ...(after !== undefined && { after }),
      });
      if (!taken.ended) hungUp++;
      for (const { name, id, data } of taken.events) {
        if (name === "turn") {
          seen.push(id ?? 0);
          facts.push((data as TurnRow).facts);
        } else over ||= name === "end";
      }
    }
    const rows = await journal(server, run);
    expect(hungUp).toBe(100);
    expect(seen).toEqual(rows.map(({ turn }) => turn));
    expect(facts).toEqual(rows.map((row) => row.facts));
  });

  test("a reader that reads nothing holds neither the run nor other readers", async () => {
    const server = await served();
    const run = await startedRun(server, rounds(100, { length: 60_000 }));
    const idle = openStream(server.url, `/api/runs/${run}/stream`);
    await once(idle, "connect");
    idle.pause();
    const { events } = await readEvents(server.url, `/api/runs/${run}/stream`);
    const rows = await journal(server, run);
    expect(events.filter(({ name }) => name === "turn")).toHaveLength(rows.length);
    expect((await server.get(`/api/runs/${run}`)).body).toMatchObject({ status: "completed" });
    idle.destroy();
  });

  test("goes on through a wait", async () => {
    const server = await served();
    const run = await waiting(server);
    const { turns } = (await server.get(`/api/runs/${run}`)).body as { turns: number };
    const reading = readEvents(server.url, `/api/runs/${run}/stream`, { after: turns });
    await server.post(`/api/runs/${run}/events`, { name: "Yes" });
    const { events } = await reading;
    expect(events[0]).toMatchObject({ id: turns + 1, name: "turn" });
    expect(events.at(-1)).toMatchObject({ name: "end" });
  });

  test("that has ended is 204 for who knows all of it, and comes whole for who does not", async () => {
    const server = await served();
    const run = await completed(server);
    const { turns } = (await server.get(`/api/runs/${run}`)).body as { turns: number };
    expect((await server.get(`/api/runs/${run}/stream`, { "last-event-id": String(turns) })).status).toBe(
      204,
    );
    expect((await server.get(`/api/runs/${run}/stream?after=${turns}`)).status).toBe(204);
    const last = await readEvents(server.url, `/api/runs/${run}/stream`, { after: turns - 1 });
    expect(last.events.map(({ id, name }) => id ?? name)).toEqual([turns, "end"]);
    const bad = await server.get(`/api/runs/${run}/stream`, { "last-event-id": "x" });
    expect([bad.status, bad.body["code"]]).toEqual([400, "bad-request"]);
  });

  test("the text of a model comes as it is made, before the turn it leads to", async () => {
    const watched = Promise.withResolvers<void>();
    const server = await served(
      withModel(async (context, reply) => {
        await watched.promise;
        context.delta?.("Hel");
        context.delta?.("lo");
        return reply();
      }),
    );
    const run = await startedRun(server, start(ends));
    const socket = openStream(server.url, `/api/runs/${run}/stream`);
    await firstBytes(socket);
    const reading = readEvents(server.url, `/api/runs/${run}/stream`);
    const other = openStream(server.url, `/api/runs/${run}/stream?after=1`);
    await firstBytes(other);
    watched.resolve();
    const { events } = await reading;
    socket.destroy();
    other.destroy();
    const deltas = events.filter(({ name }) => name === "token").map(({ data }) => data as { text: string });
    expect(deltas.map(({ text }) => text).join("")).toContain("Hello");
    const first = events.findIndex(({ name }) => name === "token");
    expect(events[first]).toMatchObject({ id: undefined, data: { run, step: 1, attempt: 1 } });
    expect(events.slice(0, first).map(({ id, name }) => id ?? name)).toEqual(["snapshot", 1]);
  });
});

/** A server whose model says what the script says, when it is let. */
const withModel = (
  call: (context: CallContext, reply: () => Promise<ModelReply>) => Promise<ModelReply>,
): ServeOptions =>
  changedWorlds(({ model, tools }) => ({
    tools,
    model: { call: (request, context) => call(context, () => model.call(request, context)) },
  }));

describe("limits", () => {
  test("a run has so many readers, and the server so many in all; who leaves makes room", async () => {
    const server = await served({ feedLimits: { perRun: 2, inAll: 3 } });
    const [one, two] = [await waiting(server), await waiting(server)];
    const open = async (run: string) => {
      const socket = openStream(server.url, `/api/runs/${run}/stream`);
      return { socket, head: await firstBytes(socket) };
    };
    const first = await open(one);
    const second = await open(one);
    const third = await open(one);
    expect([first, second, third].map(({ head }) => head.slice(9, 12))).toEqual(["200", "200", "429"]);
    expect(third.head).toContain("retry-after: 5");
    const other = await open(two);
    const fourth = await open(two);
    expect([other, fourth].map(({ head }) => head.slice(9, 12))).toEqual(["200", "429"]);
    first.socket.destroy();
    // The server hears of it a moment later.
    let status = "";
    for (let tries = 0; tries < 200 && status !== "200"; tries++)
      status = (await open(two)).head.slice(9, 12);
    expect(status).toBe("200");
  });
});

test("who asks only for the head of a stream takes no reader's place", async () => {
  const server = await served({ feedLimits: { perRun: 1, inAll: 1 } });
  const run = await waiting(server);
  for (const path of [`/api/runs/${run}/stream`, "/api/stream"]) {
    const { status } = await fetch(`${server.url}${path}`, { method: "HEAD" });
    expect(status).toBe(405);
  }
  expect((await fetch(`${server.url}/api/runs/${run}`, { method: "HEAD" })).status).toBe(200);
  const socket = openStream(server.url, `/api/runs/${run}/stream`);
  expect((await firstBytes(socket)).slice(9, 12)).toBe("200");
  socket.destroy();
});

describe("all runs", () => {
  /** Reads until so many turns have come. */
  async function placed(url: string, path: string, count: number, after?: number) {
    const socket = openStream(url, path, after);
    let text = "";
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      text += chunk.toString("utf8");
      if (text.split("event: turn\n").length > count && text.endsWith("\n\n")) break;
    }
    socket.destroy();
    return eventsIn(text).events;
  }

  test("who comes without a place is given the newest one, and then every turn in one order", async () => {
    const server = await served();
    const old = await completed(server);
    const reading = openStream(server.url, "/api/stream");
    const head = await firstBytes(reading);
    expect(head).toContain("event: snapshot");
    const runs = [await completed(server), await completed(server)];
    const journals = await Promise.all(runs.map((run) => journal(server, run)));
    const total = journals.flat().length;
    const from = Number(/^id: (\d+)$/m.exec(head)?.[1]);
    reading.destroy();
    const events = await placed(server.url, "/api/stream", total, from);
    const turns = events.filter(({ name }) => name === "turn");
    expect(turns.map(({ id }) => id)).toEqual(turns.map((_, index) => from + 1 + index));
    const data = turns.map((event) => event.data as TurnRow & { run: string });
    expect(data.some(({ run }) => run === old)).toBe(false);
    for (const [index, run] of runs.entries())
      expect(data.filter((one) => one.run === run).map(({ turn }) => turn)).toEqual(
        journals[index]?.map(({ turn }) => turn),
      );
  });

  test("a place is good with the next server as well", async () => {
    const server = await served();
    const one = await waiting(server);
    const before = await placed(server.url, "/api/stream?after=0", 2);
    await server.stop();
    const next = await served({ folder: server.folder });
    await next.post(`/api/runs/${one}/events`, { name: "Yes" });
    await next.until(one, ({ status }) => status === "completed");
    const rows = await journal(next, one);
    const last = before.at(-1)?.id ?? 0;
    const after = await placed(next.url, "/api/stream", rows.length - before.length, last);
    const turns = [...before, ...after].map(({ data }) => (data as TurnRow).turn);
    expect(turns).toEqual(rows.map(({ turn }) => turn));
  });

  test("a turn that a killed server had not placed yet is placed by the next one", async () => {
    const server = await served();
    const run = await waiting(server);
    await server.stop();
    const side = new SideFile(join(server.folder, "runs.db-server"));
    side.db.exec("DELETE FROM stream WHERE turn > 2");
    side[Symbol.dispose]();
    const next = await served({ folder: server.folder });
    const rows = await journal(next, run);
    const events = await placed(next.url, "/api/stream?after=0", rows.length);
    expect(events.map(({ data }) => (data as TurnRow).turn)).toEqual(rows.map(({ turn }) => turn));
  });
});

test("a reader that was up to date and falls far behind is sent away, and comes back with its place", async () => {
  const reader = new Feed().follow("r");
  const row = { turn: 1, at: 0, v: 1, facts: [] };
  const feed = new Feed();
  const live = feed.follow("r");
  const heavy = feed.follow("r");
  live.upToDate();
  for (let n = 0; n < 1_000; n++) feed.turn("r", row);
  expect([live.isLeftBehind, heavy.isLeftBehind, reader.isLeftBehind]).toEqual([false, false, false]);
  feed.turn("r", row);
  expect([live.isLeftBehind, heavy.isLeftBehind]).toEqual([true, false]);
  heavy.upToDate();
  const large: TurnRow = { ...row, facts: [{ type: "noted", what: "nudge", text: "x".repeat(1_000_001) }] };
  feed.turn("r", large);
  expect(heavy.isLeftBehind).toBe(true);
  const store = { rows: async () => [], record: async () => undefined } as unknown as Store;
  const followed = { id: "r", after: 7, ended: false, reader: live, snapshot: async () => ({}) };
  const said: string[] = [];
  for await (const text of runEvents(store, followed)) said.push(text);
  expect(said).toEqual(["retry: 2000\n\n", 'event: resync\ndata: {"run":"r","after":7}\n\n']);
});

test("an EventSource follows a run with a ticket, which opens nothing a second time", async () => {
  const server = await served({ tokenNeeded: true, principalOf });
  const started = await server.post("/api/runs", start(ends), bearer("admin"));
  const run = String(started.body["run"]);
  const made = await server.post("/api/tickets", undefined, bearer("runs:read"));
  expect(made.status).toBe(201);
  const path = `/api/runs/${run}/stream?ticket=${String(made.body["ticket"])}`;
  const source = new EventSource(`${server.url}${path}`);
  const ids: string[] = [];
  source.addEventListener("turn", ({ lastEventId }) => ids.push(lastEventId));
  await new Promise((resolve) => source.addEventListener("end", resolve));
  source.close();
  expect(ids).toEqual((await journal(server, run)).map(({ turn }) => String(turn)));
  const again = await server.get(path);
  expect([again.status, again.body["code"]]).toEqual([401, "unauthenticated"]);
  const elsewhere = await server.post("/api/tickets", undefined, bearer("runs:read"));
  expect((await server.get(`/api/runs?ticket=${String(elsewhere.body["ticket"])}`)).status).toBe(401);
  expect((await server.post("/api/tickets", undefined, bearer("events:send"))).status).toBe(403);
});

test("a ticket is good for a minute", () => {
  let now = 0;
  const tickets = new Tickets(() => now);
  const somebody = { name: "a", scopes: ["runs:read"] as const };
  const [one, two] = [tickets.issue(somebody), tickets.issue(somebody)];
  now = TICKET_MS - 1;
  expect(tickets.take(one.ticket)).toEqual(somebody);
  now = TICKET_MS;
  expect(tickets.take(two.ticket)).toBeUndefined();
});

test("a server that stops ends its streams, and the next one goes on from the last turn", async () => {
  const server = await served();
  const run = await waiting(server);
  const reading = readEvents(server.url, `/api/runs/${run}/stream`);
  const socket = openStream(server.url, `/api/runs/${run}/stream`);
  await firstBytes(socket);
  await server.stop();
  const before = await reading;
  const last = before.events.at(-1)?.id ?? 0;
  const next = await served({ folder: server.folder });
  const following = readEvents(next.url, `/api/runs/${run}/stream`, { after: last });
  await next.post(`/api/runs/${run}/events`, { name: "Yes" });
  const after = await following;
  const ids = [...before.events, ...after.events].flatMap(({ id }) => id ?? []);
  expect(ids).toEqual((await journal(next, run)).map(({ turn }) => turn));
});
