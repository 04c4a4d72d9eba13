// What README.md and docs/script.md show is what packloop prints and takes.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folderWith, packloop } from "../cli/run-cli.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
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

test("the trace in the README is the one npm start ends with", () => {
  using folder = folderWith({});
  const env = { PACKLOOP_STORE: `${folder.path}/runs.db` };
  const script = ["--script", "examples/codegen/script.yaml", "--var", "requirements=a slug for every title"];
  const ran = packloop(["run", "examples/codegen/codegen.pack.yaml", ...script], { cwd: root, env });
  expect(ran.code, ran.stderr).toBe(0);
  expect(packloop(["trace", "@"], { cwd: root, env }).stdout).toBe(block("$ packloop trace @"));
});

test("the commands under Run in the README work as written", () => {
  using folder = folderWith({});
  const env = { PACKLOOP_STORE: `${folder.path}/runs.db` };
  const section = readme.slice(readme.indexOf("\n## Run\n"), readme.indexOf("\n## Real work\n"));
  const lines = [...section.matchAll(/^packloop (run|send|trace) (.+)$/gm)].map((match) => match[0]);
  const codes = lines.map((line) => {
    const words = [...line.replace(/\s+#.*$/, "").matchAll(/(?:"[^"]*"|[^\s"])+/g)].map(([word]) => word);
    return packloop(
      words.slice(1).map((word) => word.replaceAll('"', "")),
      { cwd: root, env },
    ).code;
  });
  expect(codes).toEqual([10, 0, 0]);
});

test("the script in docs/script.md is one that packloop takes", () => {
  const page = readFileSync(new URL("../../docs/script.md", import.meta.url), "utf8");
  const script = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  using folder = folderWith({ "p.yaml": example, "script.yaml": script });
  const ran = packloop(["run", "p.yaml", "--script", "script.yaml", "--var", "requirements=x"], {
    cwd: folder.path,
  });
  // It scripts two states of five: the run starts and then says what is missing.
  expect(ran.code).toBe(1);
  expect(ran.stdout).toContain("the script has no answer for state `test`");
});
