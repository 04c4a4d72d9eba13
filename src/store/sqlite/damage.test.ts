import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { canonical, type Json } from "../../base/json.ts";
import { Fault, type Store } from "../../engine/ports.ts";
import { chance, sampleCreation, sampleJournal } from "../sample-journal.ts";
import { change, freshPaths, inStore, look } from "../stored-file.ts";
import { commitAll, folded, forkTurn, withLargeTexts } from "../stored-journal.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const fresh = freshPaths();
const journal = sampleJournal(1, 260);
let sound = "";

/** A store with something of everything, closed. */
beforeAll(async () => {
  sound = fresh();
  await inStore(sound, async (store) => {
    await store.putProgram("digest-of-a-pack", { states: ["a", "b"] }, "the text of a pack");
    await commitAll(store, "long", journal, { ...sampleCreation, key: "a-key" });
    await commitAll(store, "large", withLargeTexts(sampleJournal(2, 3), [40_000]));
    await commitAll(store, "short", sampleJournal(3, 2));
    const create = { ...sampleCreation, digest: "digest-of-a-fork" };
    await store.fork({ from: "long", turn: 20, run: "fork", ...forkTurn(journal, 20), create });
  });
});

function copyOf(path: string): string {
  const copy = fresh();
  copyFileSync(path, copy);
  return copy;
}

const RUNS = ["long", "large", "short", "fork"];

/** Everything the store says, as one text. */
async function everything(store: Store): Promise<string> {
  const all: unknown[] = [];
  for (const run of RUNS) {
    all.push(
      await folded(store, run),
      await store.rows(run, { from: 1, to: 999, limit: 999 }),
      await store.record(run),
    );
  }
  all.push(await store.list({ limit: 99 }), await store.list({ limit: 99, status: ["running", "waiting"] }));
  all.push(await store.find("a-key"), await store.runnable(2e12, 99), await store.nextDue());
  all.push(await store.program("digest-of-a-pack"));
  return canonical(JSON.parse(JSON.stringify(all)) as Json);
}

/** What reading and verifying come to: damage found, or the text of everything. */
async function judged(path: string): Promise<{ found: boolean; text: string }> {
  try {
    return await inStore(path, async (store) => {
      const problems: string[] = [];
      for (const run of RUNS) problems.push(...(await store.verify(run)));
      return { found: problems.length > 0, text: await everything(store) };
    });
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).code).toMatch(/^store-(corrupt|foreign|newer|unavailable)$/);
    return { found: true, text: "" };
  }
}

describe("bit rot:", () => {
  test("a flipped bit anywhere in the file is found, or changes nothing that is read", async () => {
    const bytes = readFileSync(sound);
    const { found: damaged, text } = await judged(copyOf(sound));
    expect(damaged).toBe(false);
    const random = chance(4);
    let found = 0;
    for (let i = 0; i < 200; i++) {
      const position = Math.floor(random() * bytes.length);
      const flipped = Buffer.from(bytes);
      flipped[position] = (flipped[position] as number) ^ (1 << Math.floor(random() * 8));
      const path = fresh();
      writeFileSync(path, flipped);
      const result = await judged(path);
      if (result.found) found++;
      else expect(result.text === text, `a flip at ${position} is found`).toBe(true);
    }
    expect(found).toBeGreaterThan(100);
  });

  const turnsAt = [1, 2, 77, 150, 259, 260];
  const columns = [
    "at = at + 1",
    "v = v + 1",
    "bytes = bytes + 1",
    "standing = replace(standing, '1', '0') || ' '",
    "summary = replace(summary, 'null', '0') || ' '",
    "facts = substr(facts, 1, 20) || '!' || substr(facts, 22)",
    "hash = unhex(substr(hex(hash), 1, 62) || iif(substr(hex(hash), 63) = '00', '01', '00'))",
    "hash = zeroblob(32)",
  ];
  test.each(turnsAt)("every change of turn %i is named by verify and refused by a reader", async (turn) => {
    for (const column of columns) {
      const path = copyOf(sound);
      change(
        path,
        `DROP TRIGGER turn_is_not_changed; UPDATE turn SET ${column} WHERE run = 1 AND turn = ${turn}`,
      );
      await inStore(path, async (store) => {
        expect((await store.verify("long")).join(), column).toMatch(
          new RegExp(`turn ${turn} of run long\` is damaged`),
        );
        await expect(store.rows("long", { from: 1, to: 260, limit: 999 }), column).rejects.toMatchObject({
          code: "store-corrupt",
          message: expect.stringContaining(`turn ${turn} of run long`) as string,
        });
        await expect(store.loadAt("short", 2)).resolves.toBeDefined();
      });
    }
  });

  test.each([
    ["a turn removed", "DELETE FROM turn WHERE run = 1 AND turn = 100", "turn 100 of run long"],
    ["the last turns removed", "DELETE FROM turn WHERE run = 1 AND turn > 255", "turn 256 of run long"],
    [
      "two turns exchanged",
      `UPDATE turn SET id = id + 1000000 WHERE run = 1 AND turn IN (50, 51);
       UPDATE turn SET id = id - 1000000 + iif(turn = 1000050, 1, -1) WHERE run = 1 AND turn > 1000000`,
      "turn 50 of run long",
    ],
    [
      "a turn inserted at the end",
      `INSERT INTO turn (id, at, v, bytes, standing, summary, facts, hash)
       SELECT id + 1, at, v, bytes, standing, summary, facts, hash FROM turn WHERE run = 1 AND turn = 260`,
      "turn 261 of run long",
    ],
    [
      "a turn of another run in its place",
      `UPDATE turn SET facts = (SELECT facts FROM turn o WHERE o.run = 3 AND o.turn = 2) WHERE run = 1 AND turn = 9`,
      "turn 9 of run long",
    ],
    ["a blob changed", "UPDATE blob SET data = zeroblob(length(data))", "turn 4 of run large"],
    ["a blob removed", "DELETE FROM blob", "turn 4 of run large"],
    ["what a run was created with changed", "UPDATE run SET setup = '{}' WHERE id = 1", "run long"],
    ["a status changed", "UPDATE head SET status = 'completed' WHERE run = 1", "run `long`"],
    ["a due time changed", "UPDATE head SET due = 7, work = 1 - work WHERE run = 1", "run `long`"],
    ["a key that its index does not know", "UPDATE run SET key = 'other' WHERE id = 1", "run long"],
  ])("%s is named", async (_, sql, named) => {
    const path = copyOf(sound);
    change(
      path,
      `DROP TRIGGER turn_is_not_changed; DROP TRIGGER turn_goes_with_its_run; DROP TRIGGER run_is_not_changed; ${sql}`,
    );
    await inStore(path, async (store) => {
      const problems = [];
      for (const run of RUNS) problems.push(...(await store.verify(run)));
      expect(problems.join("\n")).toContain(named);
    });
  });

  test("a damaged run can be removed, and the others are as they were", async () => {
    const path = copyOf(sound);
    change(path, "DROP TRIGGER turn_is_not_changed; UPDATE turn SET hash = zeroblob(32) WHERE run = 1");
    await inStore(path, async (store) => {
      await expect(store.load("long")).rejects.toMatchObject({ code: "store-corrupt" });
      await store.remove(["long"]);
      expect((await store.list({ limit: 9 })).map(({ run }) => run)).toEqual(["fork", "short", "large"]);
      for (const run of ["large", "short"]) expect(await store.verify(run)).toEqual([]);
    });
  });
});

describe("append-only:", () => {
  test.each([
    ["turn", "UPDATE turn SET at = 0", "never changed"],
    ["turn", "DELETE FROM turn WHERE turn = 260", "only removed with its run"],
    ["run", "UPDATE run SET setup = '{}'", "never changed"],
    ["run", "DELETE FROM run", "only removed whole"],
  ])("SQL that changes %s is refused: %s", (_, sql, message) => {
    const path = copyOf(sound);
    expect(() => change(path, sql)).toThrow(message);
    expect(look(path, "SELECT count(*) AS turns FROM turn")["turns"]).toBe(260 + 4 + 2 + 21);
  });
});

describe("files that are not ours:", () => {
  const codeOf = async (path: string): Promise<string> => {
    const codes = [];
    for (const readOnly of [false, true]) {
      codes.push(
        await openSqliteStore(path, { readOnly }).then(
          () => "opened",
          (error: unknown) => (error instanceof Fault ? error.code : String(error)),
        ),
      );
    }
    return [...new Set(codes)].join();
  };

  test("a text, and a database of somebody else, are called foreign and stay as they are", async () => {
    const text = fresh();
    writeFileSync(text, "not a database\n".repeat(100));
    expect(await codeOf(text)).toBe("store-foreign");
    const other = fresh();
    change(other, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
    const before = readFileSync(other);
    expect(await codeOf(other)).toBe("store-foreign");
    expect(readFileSync(other).equals(before)).toBe(true);
  });

  test("a store of a newer packloop is refused", async () => {
    const path = copyOf(sound);
    change(path, "UPDATE meta SET value = 3 WHERE name = 'schema'");
    expect(await codeOf(path)).toBe("store-newer");
  });

  test("a store that lost its tables or its version is called corrupt", async () => {
    const headless = copyOf(sound);
    change(headless, "DELETE FROM meta");
    expect(await codeOf(headless)).toBe("store-corrupt");
    const torn = copyOf(sound);
    const bytes = readFileSync(torn);
    writeFileSync(torn, bytes.subarray(0, 4096 * 3 + 100));
    expect(await codeOf(torn)).toBe("store-corrupt");
    const scrambled = copyOf(sound);
    bytes.fill(0x5a, 200, 4096 * 4);
    writeFileSync(scrambled, bytes);
    expect(await codeOf(scrambled)).toBe("store-corrupt");
  });

  test("an empty file becomes a store, and so does one whose creation was interrupted", async () => {
    const empty = fresh();
    writeFileSync(empty, "");
    await inStore(empty, (store) => commitAll(store, "r", sampleJournal(5, 2)));
    const begun = fresh();
    change(begun, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    await inStore(begun, (store) => commitAll(store, "r", sampleJournal(5, 2)));
    expect(look(begun, "SELECT count(*) AS turns FROM turn")["turns"]).toBe(2);
  });
});

describe("what belongs to no run", () => {
  test("is named: turns whose run is gone, and a blob beside a turn's facts", async () => {
    expect(await inStore(sound, async (store) => (await store.strays?.()) ?? ["?"])).toEqual([]);
    const path = copyOf(sound);
    change(path, "DROP TRIGGER turn_is_not_changed; DROP TRIGGER run_goes_whole");
    change(path, "DELETE FROM run WHERE name = 'short'");
    change(
      path,
      "UPDATE turn SET blob = x'00' WHERE id = (SELECT id << 24 FROM run WHERE name = 'fork') + 3",
    );
    await inStore(path, async (store) => {
      expect(await store.strays?.()).toEqual([
        expect.stringMatching(/^2 turns belong to no run \(number 3\)/),
      ]);
      expect(await store.verify("fork")).toEqual([
        "turn 3 of run `fork` is damaged: it has a blob beside its facts",
      ]);
    });
  });
});
