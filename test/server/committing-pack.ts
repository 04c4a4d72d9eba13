// Runs that commit what they wrote: a pack, a script and the tools they need.

import { existsSync } from "node:fs";
import type { JsonObject } from "../../src/base/json.ts";
import { pack } from "./sample-pack.ts";

/** Tests are skipped where there is no git. */
export const hasGit = ["/usr/bin/git", "/usr/local/bin/git"].some((path) => existsSync(path));

/** Has the form of a key that an issuer gives out. */
export const secret = ["sk", "proj", "Zq7Rt2Lm9Xw4Vb6Nc1Hd8Kf3Js5Pg0"].join("-");

const tool = (name: string, properties: string): string =>
  `  ${name}: { name: ${name}, description: Does it., parameters: { type: object, properties: ${properties} } }\n`;

export const committing = pack
  .replace("tools: [look]", "tools: [save, commit]")
  .replace(
    /tools:\n {2}look:[\s\S]*?\nworkflow/,
    `tools:\n${tool("save", "{ path: { type: string }, content: { type: string } }")}${tool("commit", "{ message: { type: string } }")}workflow`,
  )
  .replace("  engine: {", "  engine: { result_bindings: { commit: { artifact: data } }, ");

export const commits: JsonObject = {
  states: {
    work: [
      { calls: [{ tool: "save", args: { path: "a.txt", content: `hello\n${secret}\n` } }] },
      { calls: [{ tool: "commit", args: { message: "Say hello" } }] },
      { artifacts: { note: "nothing" }, event: "Done" },
    ],
    end: [{ text: "Goodbye." }],
  },
};

export const committingTools = {
  save: { builtin: "fs", op: "write" },
  commit: { builtin: "git", op: "commit" },
};
