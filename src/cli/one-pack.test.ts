import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { onePack, packAndName } from "./one-pack.ts";

const home = process.cwd();
let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "packloop-one-")));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

const save = (name: string) => writeFileSync(join(folder, name), "id: x\n");

test("a pack may be left out where there is exactly one", () => {
  save("a.pack.yaml");
  expect(onePack(undefined)).toBe("a.pack.yaml");
  save("b.pack.yaml");
  expect(() => onePack(undefined)).toThrow("`.` holds 2 packs (name one: `a.pack.yaml`, `b.pack.yaml`)");
});

test("a name that is no folder is passed on, also when there is no such file", () => {
  expect(onePack("x.yaml")).toBe("x.yaml");
  expect(onePack("-")).toBe("-");
});

test("a single argument is the pack when it looks like a file, else the name after it", () => {
  save("a.pack.yaml");
  save("plan");
  expect(packAndName("x.json", undefined)).toEqual({ pack: "x.json", name: undefined });
  expect(packAndName("plan", undefined)).toEqual({ pack: "plan", name: undefined });
  expect(packAndName("work", undefined)).toEqual({ pack: "a.pack.yaml", name: "work" });
  expect(packAndName("x", "work")).toEqual({ pack: "x", name: "work" });
});
