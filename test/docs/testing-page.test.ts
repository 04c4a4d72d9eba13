// docs/testing.md: its tests run, its report is what is printed, its commands work as written.

import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folderWith, packloop } from "../cli/run-cli.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/testing.md"), "utf8");

/** The code blocks of a language, in order. */
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text]) =>
    name === language ? [text ?? ""] : [],
  );

/** A folder with an example's files and one more. */
function exampleFolder(name: string, file: string, text: string) {
  const folder = folderWith({});
  cpSync(join(root, "examples", name), folder.path, { recursive: true });
  writeFileSync(join(folder.path, file), text);
  return folder;
}

const timeless = (text: string): string => text.replaceAll(/\d+(\.\d)? m?s$/gm, "T");

test("the first file of tests gives the report that is shown", () => {
  const [first = ""] = blocks("yaml");
  const [report = ""] = blocks("");
  using folder = exampleFolder("codegen", "codegen.test.yaml", first);
  const ran = packloop(["test"], { cwd: folder.path });
  expect(ran.code).toBe(1);
  expect(timeless(`$ packloop test\n${ran.stdout}`)).toBe(timeless(report));
});

test("the people of the second file do what they are said to do", () => {
  const second = blocks("yaml")[1] ?? "";
  using folder = exampleFolder("remediate", "people.test.yaml", second);
  const ran = packloop(["test", "people.test.yaml"], { cwd: folder.path });
  expect(ran.stdout).toContain("2 passed, 0 failed");
});

test("the commands for cassettes work, and a difference is told as shown", () => {
  using folder = exampleFolder("codegen", "none.txt", "");
  const commands = (blocks("sh")[0] ?? "").trim().split("\n");
  const words = commands.map((line) => line.split(" ").slice(1));
  expect(words.map((args) => packloop(args, { cwd: folder.path }).code)).toEqual([0, 0]);
  const other = (words[1] ?? []).map((word) => word.replace("=slugs", "=snails"));
  expect(packloop(other, { cwd: folder.path }).stdout).toContain((blocks("")[1] ?? "-").trim());
});

test("every key that a test and its expectations may have is on the page", () => {
  using folder = folderWith({
    "a.test.yaml": "pack: p\nx: 1\ntests: [{ name: a, y: 1, expect: { z: 1 } }]\n",
  });
  const { stderr } = packloop(["test"], { cwd: folder.path });
  const keys = [...stderr.matchAll(/expected one of ([\w, ]+)/g)].flatMap(([, list]) =>
    (list ?? "").split(", "),
  );
  expect(keys.length).toBeGreaterThan(25);
  expect(keys.filter((key) => !page.includes(`\`${key}\``) && key !== "tests")).toEqual([]);
});
