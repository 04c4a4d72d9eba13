import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { freeSideFile } from "../../src/server/side-place.ts";
import { StreamLog } from "../../src/server/stream-log.ts";

const folder = mkdtempSync(join(tmpdir(), "packloop-side-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("servers of one folder keep their places apart, and who comes back finds its own", () => {
  const path = join(folder, "runs.db-server");
  const [first, second] = [freeSideFile(path), freeSideFile(path)];
  const logs = [first, second].map((side) => new StreamLog(side, () => undefined));
  for (const log of logs) log.reach("r", 3);
  for (const log of logs) log.flush();
  for (const log of logs) expect(log.after(0, 9).map(({ turn }) => turn)).toEqual([1, 2, 3]);
  first[Symbol.dispose]();
  using again = freeSideFile(path);
  expect(new StreamLog(again, () => undefined).after(0, 9)).toHaveLength(3);
  second.putReply("k", { hash: "h", status: 200, headers: {}, body: {} }, 1);
  expect(again.reply("k")).toBeUndefined();
  second[Symbol.dispose]();
});
