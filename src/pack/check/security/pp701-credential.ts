// PP701: a credential is written in the pack. Its text appears in no output.

import { findCredential } from "../../../base/credentials.ts";
import type { Path } from "../../../base/json.ts";
import type { Node } from "../../read/tree.ts";
import { placeInText } from "../artifacts/text-map.ts";
import type { CheckContext, Report, Rule } from "../rule.ts";

export const credential: Rule = {
  code: "PP701",
  severity: "error",
  title: "a credential is written in the pack",
  explain:
    "A text has the form of a key, token or password that works. Packs are shared, stored and sent to " +
    "models, so the credential is known to others from then on. Revoke it, and give it to packloop by " +
    "an environment variable or a file. Placeholders such as `your-key-here` or `sk-xxxx` are not " +
    "reported, and the value is never printed.",
  bad: `
prompts:
  fetch:
    id: fetch
    name: Fetch
    version: 1.0.0
    system_template: Send the header X-Key with sk-proj-9fQ2mT7vLc4RzX1bKd8WnY5s.
`,
  good: `
prompts:
  fetch:
    id: fetch
    name: Fetch
    version: 1.0.0
    system_template: The gateway adds the key; never ask for it.
`,
  check: (context, report) => search(context, report, { node: context.root, path: [], key: undefined }),
};

interface Visit {
  readonly node: Node;
  readonly path: Path;
  /** The key the value is written under, also when it is an item of a list there. */
  readonly key: string | undefined;
}

/** Every text of the file, also under keys the shape phase refused. The reader limits the depth. */
function search(context: CheckContext, report: Report, { node, path, key }: Visit): void {
  if (node.kind === "map") {
    for (const entry of node.entries) {
      search(context, report, { node: entry.value, path: [...path, entry.key], key: entry.key });
    }
  } else if (node.kind === "list") {
    for (const [index, item] of node.items.entries()) {
      search(context, report, { node: item, path: [...path, index], key });
    }
  } else if (typeof node.value === "string") {
    judge(context, report, { path, text: node.value, key });
  }
}

function judge(
  context: CheckContext,
  report: Report,
  { path, text, key }: { path: Path; text: string; key: string | undefined },
): void {
  const found = text.length < 16 ? undefined : findCredential(text, key);
  if (found === undefined) return;
  const { kind, prefix, start, end } = found;
  const length = end - start;
  const size = `${length} characters`;
  report({
    at: placeInText(context, path, found),
    message: `looks like ${kind} (${prefix === "" ? size : `\`${prefix.trim()}…\`, ${size}`})`,
    why: "packs are shared",
    help: "revoke it, and use an environment variable",
    hideSource: true,
    data: { kind, prefix, length },
  });
}
