// Every command says what it does and how it is used.

import { expect, test } from "vitest";
import { commandNames, loadCommand } from "../../src/cli/command-table.ts";

test.each(commandNames)("the help of `%s` ends with two examples of it", async (name) => {
  const command = await loadCommand(name);
  let help = "";
  command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const [, examples = ""] = help.split("\nExamples:\n");
  const lines = examples.split("\n").filter((line) => line.includes(`packloop ${name}`));
  expect(lines.length).toBeGreaterThanOrEqual(2);
});
