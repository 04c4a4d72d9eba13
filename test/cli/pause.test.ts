// `packloop pause` and `unpause` on a store of one's own.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Summary } from "../../src/core/summary.ts";
import { asks, pack } from "../server/sample-pack.ts";
import { folderWith, packloop, type Ran } from "./run-cli.ts";

const files = { "pack.yaml": pack, "script.json": JSON.stringify(asks) };
const start = ["run", "pack.yaml", "--script", "script.json", "--var", "task=it", "--json"];

const summaryIn = ({ stdout }: Ran): Summary => JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Summary;

test("a run that is held takes what is sent, says so everywhere, and goes on when it is resumed", () => {
  using folder = folderWith(files);
  const cli = (...args: readonly string[]) => packloop(args, { cwd: folder.path });
  const { run } = summaryIn(cli(...start));
  const held = cli("pause", "@", "--reason", "lunch", "--by", "ann");
  expect(held).toMatchObject({ code: 0 });
  expect(held.stdout).toContain("held by ann: lunch; nothing of it leaves");
  expect(held.stdout).toContain(`packloop unpause ${run}`);
  expect(cli("ls").stdout).toContain("waiting, held");
  expect(cli("ls", "--where", "held=no").stdout).not.toContain(run);
  // Driven by --follow it would end, were it not held.
  const sent = cli("send", run, "Yes", "--follow", "--json");
  expect([sent.code, summaryIn(sent).state, summaryIn(sent).held?.by]).toEqual([10, "end", "ann"]);
  const resumed = cli("resume", run, "--json");
  expect([resumed.code, summaryIn(resumed).held]).toEqual([0, null]);
  expect(cli("verify", run).code).toBe(0);
});

test("all runs that have not ended are held and let go at once", () => {
  using folder = folderWith(files);
  const cli = (...args: readonly string[]) => packloop(args, { cwd: folder.path });
  const [first, second] = [summaryIn(cli(...start)).run, summaryIn(cli(...start)).run];
  cli("cancel", second);
  const third = summaryIn(cli(...start)).run;
  const held = JSON.parse(cli("pause", "--all", "--json").stdout) as { runs: readonly string[] };
  expect([...held.runs].sort()).toEqual([first, third].sort());
  expect(cli("pause", "--all").stdout).toBe("held: no run\n");
  expect(cli("pause").code).toBe(2);
  expect(cli("pause", first, "--all").code).toBe(2);
  expect(cli("unpause", first).code).toBe(0);
  expect(cli("unpause", "--all").stdout).toBe(`let go: ${third}\n`);
  expect(cli("unpause", "nobody").code).toBe(5);
});

test("a run that cannot be told is named, and keeps no other from being held", () => {
  using folder = folderWith(files);
  const cli = (...args: readonly string[]) => packloop(args, { cwd: folder.path });
  const runs = Array.from({ length: 3 }, () => summaryIn(cli(...start)).run);
  const [first = "", broken = "", third = ""] = runs;
  const db = new DatabaseSync(join(folder.path, ".packloop", "runs.db"));
  const triggers = db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'turn'");
  for (const { name } of triggers.all()) db.exec(`DROP TRIGGER ${name as string}`);
  // Its first turn: lists only look at the last one.
  const own = "id = ((SELECT id FROM run WHERE name = ?) << 24) + 1";
  db.prepare(`UPDATE turn SET facts = '[' WHERE ${own}`).run(broken);
  db.close();
  const held = cli("pause", "--all", "--json");
  expect(held.code).toBe(1);
  expect(held.stderr).toContain(`error: run \`${broken}\` was not held: `);
  const told = JSON.parse(held.stdout) as { runs: readonly string[] };
  expect([...told.runs].sort()).toEqual([first, third].sort());
});
