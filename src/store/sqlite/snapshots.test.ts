import { beforeEach, expect, test } from "vitest";
import { fold } from "../../core/apply.ts";
import { FACTS_VERSION, type Fact } from "../../core/facts.ts";
import type { Store } from "../../engine/ports.ts";
import { type SampleTurn, sampleJournal } from "../sample-journal.ts";
import { change, freshPaths, inStore, look } from "../stored-file.ts";
import {
  at,
  commitAll,
  folded,
  foldedAt,
  forkTurn,
  plain,
  prefix,
  withLargeTexts,
} from "../stored-journal.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const fresh = freshPaths();
let path = "";
beforeEach(() => {
  path = fresh();
});

const act = <T>(what: (store: Store) => Promise<T>): Promise<T> => inStore(path, what);

const journal = sampleJournal(80, 2_000);
const SNAPSHOTS = "SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM snapshot";
const TURNS = "SELECT sum(octet_length(facts)) AS bytes FROM turn";

test("snapshots come with the growth of the journal and together weigh less than it", async () => {
  await act((store) => commitAll(store, "r", journal));
  const { count: snapshots, bytes } = look(path, SNAPSHOTS) as { count: number; bytes: number };
  expect(snapshots).toBeGreaterThan(5);
  expect(bytes).toBeLessThan(look(path, TURNS)["bytes"] as number);
});

test("the items of a log are stored once, however many snapshots hold them", async () => {
  await act((store) => commitAll(store, "r", journal));
  const { items, length } = look(
    path,
    `SELECT (SELECT sum(length) FROM log) AS length,
    (SELECT sum(max(next - start, 0)) FROM (SELECT start, lead(start, 1,
      (SELECT length FROM log WHERE id = log_part.log)) OVER (PARTITION BY log ORDER BY start) AS next
    FROM log_part)) AS items`,
  ) as { items: number; length: number };
  expect(items).toBe(length);
  expect(look(path, "SELECT count(*) AS count FROM log")["count"]).toBeLessThan(
    look(path, "SELECT sum(json_array_length(logs)) AS refs FROM snapshot")["refs"] as number,
  );
});

test("a moment far back is read from the snapshot before it", async () => {
  await act(async (store) => {
    await commitAll(store, "r", journal);
    for (const turn of [900, 1_400, 2_000]) {
      const stored = await store.loadAt("r", turn);
      expect(stored?.snapshot?.turn).toBeGreaterThan(turn - 350);
      expect(stored?.rows).toHaveLength(turn - (stored?.snapshot?.turn ?? 0));
    }
  });
});

test("runs whose every turn comes from another process get snapshots too", async () => {
  const turns = withLargeTexts(
    sampleJournal(82, 1),
    Array.from({ length: 60 }, (_, i) => 4_000 + i),
  );
  for (const { row } of turns) {
    await act(async (store) => {
      const stored = await store.load("r");
      await commitAll(store, "r", [{ row, after: fold([row], fold(stored?.rows ?? [], stored?.snapshot)) }]);
    });
  }
  expect(look(path, SNAPSHOTS)["count"]).toBeGreaterThan(1);
  await act(async (store) => {
    expect(await folded(store, "r")).toBe(prefix(turns, turns.length));
    expect(await store.verify("r")).toEqual([]);
  });
});

test("snapshots of another fold are ignored by readers, and dropped and rebuilt by the next writer", async () => {
  await act((store) => commitAll(store, "r", journal.slice(0, 1_000)));
  change(path, "UPDATE snapshot SET fold = 999; UPDATE meta SET value = 999 WHERE name = 'fold'");
  const reading = await openSqliteStore(path, { readOnly: true });
  expect((await reading.load("r"))?.snapshot).toBeUndefined();
  expect(await folded(reading, "r")).toBe(prefix(journal, 1_000));
  await reading[Symbol.asyncDispose]();
  await act(async (store) => {
    await store.load("r");
    await commitAll(store, "r", journal.slice(1_000, 1_010));
    expect((await store.load("r"))?.snapshot).toBeDefined();
    expect(await folded(store, "r")).toBe(prefix(journal, 1_010));
    expect(await store.verify("r")).toEqual([]);
  });
  expect(look(path, "SELECT count(*) AS count FROM snapshot WHERE fold = 999")["count"]).toBe(0);
});

test.each([
  [
    "its fields",
    "UPDATE snapshot SET data = zeroblob(length(data)) WHERE id = (SELECT max(id) FROM snapshot)",
  ],
  ["a log", "UPDATE log_part SET items = zeroblob(length(items))"],
  ["a missing log", "DELETE FROM log_part"],
  ["its list of logs", "UPDATE snapshot SET logs = '[[1,1]]'"],
])("a snapshot damaged in %s is passed over and named", async (_, damage) => {
  await act((store) => commitAll(store, "r", journal.slice(0, 800)));
  change(path, damage);
  await act(async (store) => {
    expect((await store.load("r"))?.snapshot).toBeUndefined();
    expect(await folded(store, "r")).toBe(prefix(journal, 800));
    expect(await store.verify("r")).not.toEqual([]);
  });
});

test("a snapshot that tells another story than the journal is named", async () => {
  await act((store) => commitAll(store, "r", journal.slice(0, 600)));
  const lied = journal
    .slice(600, 800)
    .map(({ row, after }) => ({ row, after: { ...after, lastText: "something else" } }));
  await act(async (store) => {
    await commitAll(store, "r", lied);
    const problems = await store.verify("r");
    expect(problems.join()).toMatch(/snapshot of turn \d+ of run `r` differs/);
  });
});

test("a conversation that begins anew leaves the old one out", async () => {
  let turns: readonly SampleTurn[] = withLargeTexts(
    sampleJournal(81, 1),
    Array.from({ length: 400 }, (_, i) => 600 + i),
  );
  const last = at(turns, -1);
  const anew: Fact = {
    type: "entered",
    state: "next",
    visit: 1,
    prompt: "p",
    cause: { kind: "event", from: "a", event: "Go" },
    fresh: true,
    context: "",
  };
  const row = { turn: last.row.turn + 1, at: last.row.at, v: FACTS_VERSION, facts: [anew] };
  turns = [...turns, { row, after: fold([row], last.after) }];
  turns = withLargeTexts(
    turns,
    Array.from({ length: 400 }, (_, i) => 600 + i),
  );
  await act(async (store) => {
    await commitAll(store, "r", turns);
    const stored = await store.load("r");
    expect(stored?.snapshot?.conversation.length).toBeLessThan(402);
    expect(await folded(store, "r")).toBe(plain(at(turns, -1).after));
    expect(await foldedAt(store, "r", 390)).toBe(prefix(turns, 390));
    expect(await store.verify("r")).toEqual([]);
  });
});

test("a fork shares the snapshots of its past and adds its own", async () => {
  await act((store) => commitAll(store, "r", journal.slice(0, 800)));
  const first = forkTurn(journal, 700);
  const more = withLargeTexts(
    [first],
    Array.from({ length: 500 }, (_, i) => 700 + i),
  );
  await act(async (store) => {
    const create = { digest: "digest-of-a-fork", packId: "p", packVersion: "1.0.0", setup: {} };
    expect(await store.fork({ from: "r", turn: 700, run: "f", ...first, create })).toBe(true);
    expect((await store.loadAt("f", 650))?.snapshot).toBeDefined();
    await commitAll(store, "f", more.slice(1));
    expect((await store.load("f"))?.snapshot?.turn).toBeGreaterThan(701);
    expect(await folded(store, "f")).toBe(plain(at(more, -1).after));
    expect(await store.verify("f")).toEqual([]);
    expect(await folded(store, "r")).toBe(prefix(journal, 800));
  });
});

test("a removed run leaves no turns, snapshots, logs or blobs behind, and the file shrinks", async () => {
  await act(async (store) => {
    await commitAll(store, "r", withLargeTexts(journal.slice(0, 800), [300_000]));
    await commitAll(store, "other", journal.slice(0, 20));
    await store.remove(["r"]);
    expect(await store.collect()).toBeGreaterThan(300_000);
    expect(await store.verify("other")).toEqual([]);
  });
  const left = look(
    path,
    `SELECT (SELECT count(*) FROM turn) AS turns, (SELECT count(*) FROM snapshot) AS snapshots,
    (SELECT count(*) FROM log) + (SELECT count(*) FROM log_part) AS logs,
    (SELECT count(*) FROM blob) AS blobs,
    (SELECT count(*) FROM removing) AS removing, (SELECT freelist_count FROM pragma_freelist_count) AS free`,
  );
  expect(left).toEqual({ turns: 20, snapshots: 0, logs: 0, blobs: 0, removing: 0, free: 0 });
});
