// PP214: a blocklist names a tool that is not offered anyway.

import type { Path } from "../../../base/json.ts";
import type { Edit } from "../../diagnostic.ts";
import { removeAt } from "../../fix/edits.ts";
import { type CheckContext, onValue, type Rule } from "../rule.ts";
import { isMisspelt } from "./known-names.ts";

/** Offered without being listed, by this runtime or others. */
const UNLISTED = /^(?:workflow|skill|memory|mcp)__/;

/** Each removal looks at the whole list. */
const FIXABLE_MAX = 500;

export const idleBlock: Rule = {
  code: "PP214",
  severity: "warning",
  fix: "safe",
  title: "blocklist entry blocks nothing",
  explain:
    "A prompt offers only the tools it lists, so blocking another one changes nothing. Often the name is " +
    "misspelt, and the tool that was to be blocked is offered. Correct the name, or remove the entry.",
  bad: `
prompts:
  tidy:
    id: tidy
    name: Tidy
    version: 1.0.0
    system_template: Tidy the folder.
    tools: [list_files]
    tool_policy: { blocklist: [remove_files] }
tools:
  list_files: { name: list_files, description: Lists files. }
`,
  good: `
prompts:
  tidy:
    id: tidy
    name: Tidy
    version: 1.0.0
    system_template: Tidy the folder.
    tools: [list_files]
tools:
  list_files: { name: list_files, description: Lists files. }
`,
  check: (context, report) => {
    for (const [name, prompt] of Object.entries(context.pack.prompts)) {
      const blocklist = prompt.tool_policy?.blocklist ?? [];
      const tools = prompt.tools ?? [];
      if (blocklist.length === 0 || isUnsure(context, ["prompts", name, "tools"], tools.length)) continue;
      const offered = new Offered(tools);
      for (const [index, tool] of blocklist.entries()) {
        if (UNLISTED.test(tool) || offered.has(tool)) continue;
        const path = ["prompts", name, "tool_policy", "blocklist", index];
        report({
          at: onValue(...path),
          message: `blocklist entry \`${tool}\` blocks nothing`,
          why: `prompt \`${name}\` does not offer it`,
          help: "remove it, or correct the name",
          ...(blocklist.length <= FIXABLE_MAX && {
            fix: { title: "remove the entry", edits: removal(context, path, blocklist.length) },
          }),
          data: { prompt: name, tool },
        });
      }
    }
  },
};

/** Part of the list was refused, or it stands under a misspelt key: the tool may be in it. */
function isUnsure(context: CheckContext, path: Path, length: number): boolean {
  return context.isBroken(...path) || context.exists(...path, length) || isMisspelt(context, path);
}

/** The last entry takes the list with it: a block list cannot be empty. */
function removal({ root, text }: CheckContext, path: Path, entries: number): readonly Edit[] {
  const item = removeAt(root, text, path);
  return item.length > 0 || entries > 1 ? item : removeAt(root, text, path.slice(0, -1));
}

/** Tools of a prompt; a star in either list stands for anything, and an agent has two names (S41). */
class Offered {
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: ReadonlySet<string>;
  /** Made when the first star is looked up. */
  #sorted: readonly string[] | undefined;

  constructor(tools: readonly string[]) {
    this.#names = new Set(tools.flatMap((tool) => [tool, `a2a__${tool}`]));
    this.#prefixes = new Set(tools.filter((tool) => tool.endsWith("*")).map((tool) => tool.slice(0, -1)));
  }

  has(tool: string): boolean {
    if (this.#names.has(tool) || this.#names.has(`a2a__${tool}`)) return true;
    return this.#isCovered(tool) || (tool.endsWith("*") && this.#covers(tool.slice(0, -1)));
  }

  #isCovered(tool: string): boolean {
    if (this.#prefixes.size === 0) return false;
    for (let length = 0; length <= tool.length; length++) {
      if (this.#prefixes.has(tool.slice(0, length))) return true;
    }
    return false;
  }

  #covers(prefix: string): boolean {
    this.#sorted ??= [...this.#names].sort();
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] as string) < prefix) low = middle + 1;
      else high = middle;
    }
    return this.#sorted[low]?.startsWith(prefix) === true;
  }
}
