// Folders that can be made, and those that cannot: what fails must say so, and end.

import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

const home = mkdtempSync(join(tmpdir(), "packloop-folder-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test("a folder is made with those above it, and made again without complaint", () => {
  const path = join(home, "a/b/c");
  makeFolder(path, { mode: 0o700 });
  makeFolder(path, { mode: 0o700 });
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test.runIf(existsSync("/proc/self"))(
  "below a folder that takes no others it fails, and does not hang",
  () => {
    expect(() => makeFolder("/proc/nope/plugins")).toThrow("ENOENT");
  },
);

test("below a file it fails, and so it does in its place or in that of a link to nowhere", () => {
  writeFileSync(join(home, "file"), "");
  symlinkSync(join(home, "nowhere"), join(home, "link"));
  expect(() => makeFolder(join(home, "file/x"))).toThrow("ENOTDIR");
  expect(() => makeFolder(join(home, "file"))).toThrow("EEXIST");
  expect(() => makeFolder(join(home, "link"))).toThrow("EEXIST");
});
