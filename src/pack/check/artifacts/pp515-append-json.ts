// PP515: append on JSON keeps an array, where other runtimes join texts.

import { onValue, type Rule } from "../rule.ts";
import { artifactFlow } from "./artifact-flow.ts";
import { isJsonType } from "./mime-type.ts";

export const appendJson: Rule = {
  code: "PP515",
  severity: "info",
  title: "append to JSON keeps an array",
  explain:
    "Every value written to a JSON artifact with mode append becomes an element of one JSON array. " +
    "Runtimes that join the texts produce something that is no JSON. Write prompts that read the artifact " +
    "for an array.",
  bad: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, terminal: true, artifacts: { log: { type: application/json, mode: append } } }
`,
  good: `
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, terminal: true, artifacts: { log: { type: text/plain, mode: append } } }
`,
  check: (context, report) => {
    for (const [name, declarations] of artifactFlow(context).declarations) {
      const found = declarations.find(
        ({ artifact }) => artifact.mode === "append" && isJsonType(artifact.type),
      );
      if (found === undefined) continue;
      report({
        at: onValue(...found.path, "mode"),
        message: `values of \`${name}\` are kept as a JSON array`,
        why: "other runtimes join the text",
        help: "expect an array in prompts",
        data: { artifact: name, state: found.state, type: found.artifact.type },
      });
    }
  },
};
