// What README.md shows is what packloop prints.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { folderWith, packloop } from "../cli/run-cli.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const example = readFileSync(new URL("../../examples/codegen/codegen.pack.yaml", import.meta.url), "utf8");

/** The text of the code block that begins with this line. */
function block(firstLine: string): string {
  const start = readme.indexOf(`\n\`\`\`\n${firstLine}\n`);
  expect(start, firstLine).toBeGreaterThan(-1);
  const from = start + "\n```\n".length + firstLine.length + 1;
  return readme.slice(from, readme.indexOf("\n```", from) + 1);
}

test("the finding in the README is what check prints", () => {
  const wrong = example.replace("TestsFailed: implement }", "TestsFailed: implment }");
  using folder = folderWith({ "codegen.pack.yaml": wrong });
  const { stdout } = packloop(["check", "codegen.pack.yaml"], { cwd: folder.path });
  expect(stdout).toContain(block("$ packloop check codegen.pack.yaml"));
});
