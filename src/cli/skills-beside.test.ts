// Skills are read from folders beside the pack, and from nowhere else.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { skillsBeside } from "./skills-beside.ts";

function folderWith(
  files: Readonly<Record<string, string | Buffer>>,
): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "packloop-skills-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const refunds = "---\r\nname: refunds\r\ndescription: When to pay back.\r\n---\r\n\r\nAsk first.\r\n";

test("a folder with a SKILL.md is one skill, with the texts beside it", () => {
  using folder = folderWith({
    "pack.yaml": "",
    "skills/refunds/SKILL.md": refunds,
    "skills/refunds/data/limits.csv": "a,b",
    "skills/refunds/logo.png": Buffer.from([0x89, 0x50, 0xff]),
    "skills/refunds/.env": "KEY=1",
  });
  const read = skillsBeside(join(folder.path, "pack.yaml"));
  const skill = {
    folder: "skills/refunds",
    name: "refunds",
    description: "When to pay back.",
    instructions: "Ask first.",
    resources: { "data/limits.csv": "a,b" },
  };
  expect(read("./skills/refunds/")).toEqual([skill]);
  expect(read("skills")).toEqual([skill]);
});

test("a folder of folders is the skills in them; one without a head is called after its folder", () => {
  using folder = folderWith({
    "pack.yaml": "",
    "s/b/SKILL.md": "Do b.",
    "s/a/SKILL.md": "---\nname: [\n---\nDo a.",
    "s/none/README.md": "x",
  });
  const skills = skillsBeside(join(folder.path, "pack.yaml"))("s") ?? [];
  expect(skills.map(({ name, folder: at, instructions }) => [name, at, instructions])).toEqual([
    ["a", "s/a", "Do a."],
    ["b", "s/b", "Do b."],
  ]);
});

test("nothing outside the folder of the pack is read, by a path, a link to a folder or a link to a file", () => {
  using folder = folderWith({
    "pack/pack.yaml": "",
    "pack/in/SKILL.md": "In.",
    "outside/SKILL.md": "Out.",
    "outside/secret.txt": "secret",
  });
  const pack = join(folder.path, "pack");
  symlinkSync(join(folder.path, "outside"), join(pack, "link"));
  symlinkSync(join(folder.path, "outside/secret.txt"), join(pack, "in/secret.txt"));
  symlinkSync(join(folder.path, "outside"), join(pack, "in/all"));
  const read = skillsBeside(join(pack, "pack.yaml"));
  for (const path of ["../outside", "link", join(folder.path, "outside"), "@acme/skills", "nowhere"])
    expect(read(path), path).toBeUndefined();
  expect(read("in")).toMatchObject([{ instructions: "In.", resources: {} }]);
});

test("links to folders are not followed, nor is what tools leave behind read", () => {
  using folder = folderWith({
    "pack.yaml": "",
    "s/SKILL.md": "Do.",
    "s/data/one.txt": "1",
    "s/node_modules/it/index.js": "2",
    "s/.cache/three.txt": "3",
  });
  for (const name of ["a", "b"]) symlinkSync(".", join(folder.path, "s", name));
  symlinkSync("/", join(folder.path, "s/all"));
  symlinkSync("data/one.txt", join(folder.path, "s/same.txt"));
  const [skill] = skillsBeside(join(folder.path, "pack.yaml"))("s") ?? [];
  expect(skill?.resources).toEqual({ "data/one.txt": "1", "same.txt": "1" });
});

test("the skills of a pack are limited together, each path counted once", () => {
  const large = "x".repeat(250 * 1024);
  const texts = (of: string) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${of}/${n}.txt`, large]));
  using folder = folderWith({
    "pack.yaml": "",
    ...{ "a/SKILL.md": "A.", ...texts("a") },
    ...{ "b/SKILL.md": "B.", ...texts("b") },
  });
  const read = skillsBeside(join(folder.path, "pack.yaml"));
  expect(read("a")).toEqual(read("a"));
  expect(() => read("b")).toThrow("have more than 8 MiB of text");
});
