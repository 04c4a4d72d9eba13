// Runs over HTTP: started, listed, looked at, talked to, ended.

import { CloudEvent } from "cloudevents";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import { eachRecord } from "../../src/host/stored-runs.ts";
import { asks, ends, pack, start } from "./sample-pack.ts";
import { type Served, served } from "./served.ts";
import { completed, waiting } from "./started-run.ts";

const id = (body: JsonObject): string => String(body["run"]);

describe("starting", () => {
  test("a run is started, driven, and found at its address", async () => {
    const server = await served();
    const started = await server.post("/api/runs", start(ends));
    expect(started.status).toBe(201);
    expect(started.headers.get("location")).toBe(`/api/runs/${id(started.body)}`);
    const summary = await server.until(id(started.body), ({ status }) => status === "completed");
    expect(summary).toMatchObject({
      state: "end",
      mode: "autonomous",
      output: { text: "Goodbye.", artifacts: { note: "two" } },
      visits: { work: 2, end: 1 },
      limits: { max_total_visits: 20, max_tool_calls: 9, max_wall_time_sec: 600 },
    });
    const got = await server.get(started.headers.get("location") ?? "");
    expect(got.body).toEqual(summary);
    expect(got.headers.get("etag")).toBe(`"${summary.turns}"`);
    const same = await server.get(`/api/runs/${summary.run}`, { "if-none-match": `"${summary.turns}"` });
    expect(same.status).toBe(304);
  });

  test("what cannot start says why with its code, and leaves no run", async () => {
    const server = await served();
    const cases: readonly (readonly [JsonObject, number, string])[] = [
      [start(ends, { pack: "id: x" }), 422, "pack-invalid"],
      [start(ends, { variables: {} }), 422, "variable-invalid"],
      [start(ends, { budgets: { max_total_visits: 99 } }), 422, "budget-not-tighter"],
      [start(ends, { agent: "nobody" }), 422, "unknown-agent"],
      [start(ends, { prompt: "nothing" }), 422, "unknown-prompt"],
      [start({ states: { work: [{ txt: "x" }] } }), 422, "script-invalid"],
      [{ digest: "none", variables: {} }, 404, "unknown-pack"],
      [{ variables: {} }, 400, "bad-request"],
      [start(ends, { surprise: 1 }), 400, "bad-request"],
      [{ pack, variables: { task: "it" } }, 422, "cannot-start"],
    ];
    for (const [body, status, code] of cases) {
      const answer = await server.post("/api/runs", body);
      expect([code, answer.status, answer.body["code"]]).toEqual([code, status, code]);
    }
    expect((await server.get("/api/runs")).body).toEqual({ items: [], next_cursor: null });
  });

  test("diagnostics of a wrong pack come with their places", async () => {
    const server = await served();
    const wrong = await server.post(
      "/api/runs",
      start(ends, { pack: pack.replace("Done: end", "Done: ende") }),
    );
    const errors = (wrong.body["diagnostics"] as JsonObject[]).filter(({ severity }) => severity === "error");
    const pointer = "/workflow/states/work/on_event/Done";
    expect(errors).toMatchObject([{ code: "PP203", pointer, line: 27 }]);
  });

  test("budgets given with the request are the run's", async () => {
    const server = await served();
    const { body } = await server.post("/api/runs", start(ends, { budgets: { max_total_visits: 1 } }));
    const summary = await server.until(id(body), ({ status }) => status !== "running");
    expect(summary).toMatchObject({ status: "budget_exhausted", reason: { limit: "max_total_visits" } });
  });
});

describe("keys", () => {
  test("the same key and body is the same run, another body is refused", async () => {
    const server = await served();
    const key = { "idempotency-key": "k1" };
    const first = await server.post("/api/runs", start(ends), key);
    const again = await server.post("/api/runs", start(ends), key);
    expect([again.status, again.body["run"]]).toEqual([201, first.body["run"]]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    const other = await server.post("/api/runs", start(asks), key);
    expect([other.status, other.body["code"]]).toEqual([422, "idempotency-key-reused"]);
    expect((await server.get("/api/runs")).body["items"]).toHaveLength(1);
  });

  test("a run is found by its key although the reply to it was lost", async () => {
    const server = await served();
    const key = { "idempotency-key": "k1" };
    const first = await server.post("/api/runs", start(ends), key);
    await server.stop();
    const { SideFile } = await import("../../src/server/side-file.ts");
    // As after a crash between the commit and the reply: the server's own notes are gone.
    const next = await served({ folder: server.folder, side: new SideFile(":memory:") });
    const again = await next.post("/api/runs", start(ends), key);
    expect(again.body["run"]).toBe(first.body["run"]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect((await next.post("/api/runs", start(asks), key)).body["code"]).toBe("idempotency-key-reused");
  });

  test("an event with a key is taken once, also without the server's notes", async () => {
    const server = await served();
    const run = await waiting(server);
    const key = { "idempotency-key": "e1" };
    const first = await server.post(`/api/runs/${run}/events`, { name: "No" }, key);
    expect(first.status).toBe(200);
    await server.until(run, ({ status }) => status === "waiting");
    const before = await server.get(`/api/runs/${run}`);
    expect((await server.post(`/api/runs/${run}/events`, { name: "No" }, key)).body).toEqual(first.body);
    expect((await server.get(`/api/runs/${run}`)).body).toEqual(before.body);
    const send = () => server.post(`/api/runs/${run}/events`, { name: "No", dedupe_key: "d1" });
    expect((await send()).body).not.toHaveProperty("ignored");
    const again = { ignored: true, ignored_because: "this event was taken already" };
    expect((await send()).body).toMatchObject(again);
  });

  test("a message with a key is said once", async () => {
    const server = await served();
    const run = await waiting(server);
    const say = () => server.post(`/api/runs/${run}/messages`, { text: "hello", dedupe_key: "m1" });
    expect((await say()).body).not.toHaveProperty("ignored");
    await server.until(run, ({ status }) => status === "waiting");
    expect((await say()).body).toMatchObject({ ignored_because: "this message was taken already" });
  });

  test("a key is 1 to 255 printable characters", async () => {
    const server = await served();
    for (const key of ["x".repeat(256), "tab\there"]) {
      const answer = await server.post("/api/runs", start(ends), { "idempotency-key": key });
      expect([answer.status, answer.body["code"]]).toEqual([400, "bad-request"]);
    }
  });
});

describe("people", () => {
  test("an event moves a waiting run and names its sender", async () => {
    const server = await served();
    const run = await waiting(server);
    const sent = await server.post(`/api/runs/${run}/events`, { name: "Yes", by: "alice", context: "go" });
    expect(sent.status).toBe(200);
    await server.until(run, ({ status }) => status === "completed");
    const trace = (await server.get(`/api/runs/${run}/trace`)).body as unknown as JsonObject[];
    expect(trace.at(-1)).toMatchObject({ to: "end", cause: "outside", by: "alice" });
  });

  test("a wrong event lists the allowed ones and changes nothing", async () => {
    const server = await served();
    const run = await waiting(server);
    const before = await server.get(`/api/runs/${run}`);
    const wrong = await server.post(`/api/runs/${run}/events`, { name: "Maybe" });
    expect([wrong.status, wrong.body["code"]]).toEqual([409, "event-not-allowed"]);
    expect(wrong.body["allowed_events"]).toEqual(["Yes", "No"]);
    expect((await server.get(`/api/runs/${run}`)).body).toEqual(before.body);
  });

  test("artifacts that come with an event are written, and wrong ones are refused", async () => {
    const server = await served();
    const run = await waiting(server);
    const send = (artifacts: JsonObject) =>
      server.post(`/api/runs/${run}/events`, { name: "Yes", artifacts });
    expect((await send({ nothing: 1 })).body["code"]).toBe("bad-artifact");
    expect((await send({ data: "{" })).body["code"]).toBe("bad-artifact");
    expect((await send({ data: { deep: [1] } })).status).toBe(200);
    const artifact = await server.get(`/api/runs/${run}/artifacts/data`);
    expect(artifact.body).toMatchObject({ name: "data", value: { deep: [1] } });
  });

  test("If-Match holds a write back when the run has moved on", async () => {
    const server = await served();
    const run = await waiting(server);
    const { turns } = (await server.get(`/api/runs/${run}`)).body as unknown as Summary;
    const send = (tag: string) => server.post(`/api/runs/${run}/events`, { name: "No" }, { "if-match": tag });
    expect([(await send(`"${turns - 1}"`)).status, (await send("x")).status]).toEqual([412, 400]);
    expect((await send(`"${turns}"`)).status).toBe(200);
    expect((await send(`"${turns}"`)).body).toMatchObject({ code: "precondition-failed" });
  });

  test("a finished run takes nothing, and a second cancel is fine", async () => {
    const server = await served();
    const run = await waiting(server);
    const cancel = await server.post(`/api/runs/${run}/cancel`, { reason: "enough", by: "bob" });
    expect(cancel.body).toMatchObject({ status: "cancelled", reason: { message: "enough" } });
    const again = await server.call("POST", `/api/runs/${run}/cancel`);
    expect([again.status, again.body["ignored"]]).toEqual([200, true]);
    expect(again.body["ignored_because"]).toBe("the run is cancelled");
    expect((await server.post(`/api/runs/${run}/events`, { name: "Yes" })).body["code"]).toBe("run-finished");
    expect((await server.post(`/api/runs/${run}/messages`, { text: "x" })).body["code"]).toBe("run-finished");
  });

  test("what waits is in the inbox, oldest first", async () => {
    const server = await served();
    const [one, two] = [await waiting(server), await waiting(server)];
    const { body } = await server.get("/api/inbox");
    expect(body["items"]).toMatchObject([
      { run: one, kind: "event", events: ["Yes", "No"], state: "gate" },
      { run: two, kind: "event" },
    ]);
    const first = (await server.get("/api/inbox?limit=1")).body;
    const second = (await server.get(`/api/inbox?limit=1&cursor=${String(first["next_cursor"])}`)).body;
    expect([first["items"], second["items"]]).toMatchObject([[{ run: one }], [{ run: two }]]);
    expect(second["next_cursor"]).toBeNull();
  });

  test("going through all runs goes on when those read last are removed meanwhile", async () => {
    const { store, ...server } = await served();
    const runs: string[] = [];
    for (let i = 0; i < 6; i++) runs.unshift(await waiting({ store, ...server }));
    const [a, b, c, d, e, f] = runs as [string, string, string, string, string, string];
    const seen: string[] = [];
    for await (const { run } of eachRecord(store, { page: 2 }, () => undefined)) {
      seen.push(run);
      if (run === b) await store.remove([a, b]);
      if (run === d) await store.remove([d]);
      if (run === f) await store.remove([c, e, f]);
    }
    expect(seen).toEqual([a, b, c, d, e, f]);
  });
});

describe("looking", () => {
  test("the list is newest first, filtered and paged", async () => {
    const server = await served();
    const runs = [await completed(server), await waiting(server), await completed(server)];
    const list = async (query: string) => (await server.get(`/api/runs?${query}`)).body;
    const names = async (query: string) => ((await list(query))["items"] as JsonObject[]).map(id);
    expect(await names("")).toEqual(runs.toReversed());
    expect(await names("status=waiting")).toEqual([runs[1]]);
    expect(await names("status=waiting,completed")).toEqual(runs.toReversed());
    expect(await names("status=failed&status=cancelled")).toEqual([]);
    expect([await names("pack=served&limit=1"), await names("pack=other")]).toEqual([[runs[2]], []]);
    expect([await names("text=GATE"), await names(`text=${runs[0]}`)]).toEqual([[runs[1]], [runs[0]]]);
    expect([await names("parent="), await names(`parent=${runs[0]}`)]).toEqual([runs.toReversed(), []]);
    const first = await list("limit=2");
    const second = await list(`limit=2&cursor=${String(first["next_cursor"])}`);
    expect((second["items"] as JsonObject[]).map(id)).toEqual([runs[0]]);
    expect(second["next_cursor"]).toBeNull();
    for (const query of ["status=odd", "limit=0", "cursor=!", "cursor=AAAA", "unknown=1"])
      expect([query, (await server.get(`/api/runs?${query}`)).status]).toEqual([query, 400]);
  });

  test("an expression, a reason and a time choose runs, and pages go on where they stopped", async () => {
    const server = await served();
    const runs = [await completed(server), await waiting(server), await completed(server)];
    const list = async (query: Readonly<Record<string, string>>) =>
      await server.get(`/api/runs?${new URLSearchParams(query).toString()}`);
    const names = async (query: Readonly<Record<string, string>>) =>
      ((await list(query)).body["items"] as JsonObject[]).map(id);
    expect(await names({ where: "visits>=2 and status=completed" })).toEqual([runs[2], runs[0]]);
    expect(await names({ where: "tool_calls=1 or visits>99" })).toEqual([runs[1]]);
    expect(await names({ where: "status=waiting", status: "completed" })).toEqual([]);
    expect(await names({ where: "pack=served and not status=waiting and age<1h" })).toHaveLength(2);
    expect(await names({ where: "pack=other" })).toEqual([]);
    expect([await names({ since: "1h" }), await names({ until: "1h" })]).toEqual([runs.toReversed(), []]);
    expect(await names({ since: "2020-01-01", until: "2020-01-02T00:00:00Z" })).toEqual([]);
    const first = (await list({ where: "status=completed", limit: "1" })).body;
    const cursor = String(first["next_cursor"]);
    const second = (await list({ where: "status=completed", limit: "1", cursor })).body;
    expect([first, second].map(({ items }) => (items as JsonObject[]).map(id))).toEqual([
      [runs[2]],
      [runs[0]],
    ]);
    expect(second["next_cursor"]).toBeNull();
    const summary = (await server.get(`/api/runs/${runs[1]}`)).body as unknown as Summary;
    const [line] = (await list({ where: `run=${runs[1]}` })).body["items"] as JsonObject[];
    const { visits: _visits, wall_ms: _time, ...used } = summary.used;
    expect(line?.["used"]).toEqual(used);
    await server.post(`/api/runs/${runs[1]}/cancel`, { reason: "enough" });
    expect([await names({ reason: "cancelled" }), await names({ reason: "other" })]).toEqual([[runs[1]], []]);
    expect(await names({ where: "reason=cancelled" })).toEqual([runs[1]]);
    const wrong = await list({ where: "visit>1" });
    expect([wrong.status, String(wrong.body["detail"])]).toEqual([
      400,
      expect.stringMatching(
        /^where: there is no `visit`; did you mean `visits`\?, at character 1 \(known: run,/,
      ),
    ]);
    expect((await list({ since: "yesterday" })).body["detail"]).toContain("`yesterday` is no time");
  });

  test("the past is the fold up to a turn", async () => {
    const server = await served();
    const run = await completed(server);
    const at = async (turn: number) => (await server.get(`/api/runs/${run}?at=${turn}`)).body;
    expect(await at(1)).toMatchObject({ status: "running", turns: 1, visits: { work: 1 }, output: null });
    expect((await server.get(`/api/runs/${run}?at=99`)).body["code"]).toBe("unknown-turn");
    const values = await Promise.all(
      [2, 3].map((turn) => server.get(`/api/runs/${run}/artifacts?at=${turn}`)),
    );
    expect(values.map(({ body }) => body["artifacts"])).toEqual([{ note: "one" }, { note: "two" }]);
    expect((await server.get(`/api/runs/${run}/artifacts/none`)).body["code"]).toBe("unknown-artifact");
  });

  test("the trace is an array that comes whole or in pages", async () => {
    const server = await served();
    const run = await completed(server);
    const whole = await server.get(`/api/runs/${run}/trace`);
    const rows = whole.body as unknown as JsonObject[];
    expect(rows.map(({ to, visit }) => [to, visit])).toEqual([
      ["work", 1],
      ["work", 2],
      ["end", 1],
    ]);
    expect(whole.headers.get("link")).toBeNull();
    const pages: JsonObject[] = [];
    let next: string | undefined = `/api/runs/${run}/trace?limit=1`;
    for (let page = 0; next !== undefined && page < 9; page++) {
      const { body, headers }: Awaited<ReturnType<Served["get"]>> = await server.get(next);
      pages.push(...(body as unknown as JsonObject[]));
      next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    }
    expect(pages).toEqual(rows);
    expect((await server.get(`/api/runs/${run}/trace?at=2`)).body).toEqual([rows[1]]);
    const narrow = (await server.get(`/api/runs/${run}/trace?values=changed`))
      .body as unknown as JsonObject[];
    expect(narrow.map((row) => row["artifacts"])).toEqual([{}, { note: "one" }, { note: "two" }]);
  });

  test("turns come in pages, and a page that is full never changes", async () => {
    const server = await served();
    const run = await waiting(server);
    const turns = await server.get(`/api/runs/${run}/turns?from=2&to=3`);
    expect((turns.body["items"] as JsonObject[]).map((turn) => turn["turn"])).toEqual([2, 3]);
    expect(turns.headers.get("cache-control")).toContain("immutable");
    const first = (await server.get(`/api/runs/${run}/turns?limit=1`)).body;
    const second = await server.get(`/api/runs/${run}/turns?limit=1&cursor=${String(first["next_cursor"])}`);
    expect(second.body["items"]).toMatchObject([{ turn: 2 }]);
    const all = await server.get(`/api/runs/${run}/turns`);
    expect(all.headers.get("cache-control")).toBe("no-store");
    expect(all.body["next_cursor"]).toBeNull();
    const tag = all.headers.get("etag") ?? "";
    for (const known of [tag, `W/${tag}`, `"x", ${tag}`, "*"])
      expect((await server.get(`/api/runs/${run}/turns`, { "if-none-match": known })).status).toBe(304);
    expect((await server.get(`/api/runs/${run}/turns`, { "if-none-match": '"999"' })).status).toBe(200);
  });

  test("facts come one by one, or as a batch of CloudEvents", async () => {
    const server = await served();
    const run = await waiting(server);
    const turns = (await server.get(`/api/runs/${run}/turns`)).body["items"] as { facts: JsonObject[] }[];
    const facts = (await server.get(`/api/runs/${run}/facts`)).body["items"] as { fact: JsonObject }[];
    expect(facts.map(({ fact }) => fact)).toEqual(turns.flatMap((turn) => turn.facts));
    const accept = { accept: "application/cloudevents-batch+json" };
    const batch = await server.get(`/api/runs/${run}/facts`, accept);
    expect(batch.headers.get("content-type")).toContain(accept.accept);
    const events = batch.body as unknown as { id: string; type: string }[];
    for (const event of events) expect(() => new CloudEvent(event, true)).not.toThrow();
    expect(events[0]).toMatchObject({ id: `${run}/1/1`, type: "workflow.started", source: `/runs/${run}` });
    const second = await server.get(`/api/runs/${run}/facts?from=3&limit=1`, accept);
    expect(second.body).toEqual(events.filter(({ id }) => id.startsWith(`${run}/3/`)));
    expect(second.headers.get("link")).toContain('rel="next"');
  });

  test("steps come by asks", async () => {
    const server = await served();
    const run = await waiting(server);
    const steps = (await server.get(`/api/runs/${run}/steps`)).body["items"] as JsonObject[];
    expect(steps.map(({ kind, status, tool }) => [kind, status, tool])).toEqual([
      ["model", "answered", null],
      ["timer", "open", null],
      ["tool", "answered", "look"],
      ["model", "answered", null],
      ["event", "open", null],
    ]);
    const paged = (await server.get(`/api/runs/${run}/steps?limit=1`)).body;
    expect(paged["items"]).toHaveLength(2);
    const model = await server.get(`/api/runs/${run}/steps/1`);
    expect(model.body).toMatchObject({
      kind: "model",
      key: `${run}/1`,
      request: { system: "Do it." },
      answer: { outcome: { ok: true } },
    });
    expect((await server.get(`/api/runs/${run}/steps/99`)).body["code"]).toBe("unknown-step");
  });

  test("an unknown run is 404 everywhere", async () => {
    const server = await served();
    const gets = [
      "",
      "/trace",
      "/turns",
      "/facts",
      "/steps",
      "/steps/1",
      "/artifacts",
      "/artifacts/x",
      "/diff/y",
      "/stream",
    ];
    for (const path of gets) {
      const answer = await server.get(`/api/runs/r_none${path}`);
      expect([path, answer.status, answer.body["code"]]).toEqual([path, 404, "unknown-run"]);
    }
    const posts: readonly (readonly [string, JsonObject])[] = [
      ["/events", { name: "Yes" }],
      ["/messages", { text: "x" }],
      ["/answers/1", { result: 1 }],
      ["/approvals/1", { decision: "approve" }],
      ["/cancel", {}],
      ["/fork", {}],
    ];
    for (const [path, body] of posts) {
      const answer = await server.post(`/api/runs/r_none${path}`, body);
      expect([path, answer.status, answer.body["code"]]).toEqual([path, 404, "unknown-run"]);
    }
    expect((await server.call("POST", "/api/runs/r_none/replay")).status).toBe(404);
    expect((await server.call("DELETE", "/api/runs/r_none")).status).toBe(404);
  });
});

describe("ending", () => {
  test("only a run that has ended can be removed, and then it is gone", async () => {
    const server = await served();
    const run = await waiting(server);
    const early = await server.call("DELETE", `/api/runs/${run}`);
    expect([early.status, early.body["code"]]).toEqual([409, "run-unfinished"]);
    await server.post(`/api/runs/${run}/cancel`, {});
    const removed = await server.call("DELETE", `/api/runs/${run}`);
    expect(removed.body).toEqual({ removed: [run] });
    expect((await server.get(`/api/runs/${run}`)).status).toBe(404);
    const gone = await server.get(`/api/runs/${run}/stream?after=2`);
    expect([gone.status, gone.body["code"]]).toEqual([410, "run-removed"]);
  });
});
