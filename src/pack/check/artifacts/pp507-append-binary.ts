// PP507: append on a type whose pieces cannot be joined.

import { onValue, type Rule } from "../rule.ts";
import { artifactFlow } from "./artifact-flow.ts";
import { essence } from "./mime-type.ts";

export const appendBinary: Rule = {
  code: "PP507",
  severity: "warning",
  title: "append to a binary type",
  explain:
    "An artifact with mode append grows with every write. Two images, recordings or byte strings put " +
    "behind each other are not one of them any more. Use replace, or append pointers such as file names " +
    "as text.",
  bad: `
workflow:
  version: 2
  entry: draw
  states:
    draw: { prompt_task: p, terminal: true, artifacts: { sketch: { type: image/png, mode: append } } }
`,
  good: `
workflow:
  version: 2
  entry: draw
  states:
    draw: { prompt_task: p, terminal: true, artifacts: { sketch: { type: image/png } } }
`,
  check: (context, report) => {
    for (const declarations of artifactFlow(context).declarations.values()) {
      for (const { name, state, artifact, path } of declarations) {
        const type = essence(artifact.type);
        if (artifact.mode !== "append" || !/^(?:image|audio|video)\/|^application\/octet-stream$/.test(type))
          continue;
        report({
          at: onValue(...path, "mode"),
          message: `append to \`${artifact.type}\``,
          why: "pieces cannot be joined",
          help: "use `replace`, or append pointers as text",
          data: { artifact: name, state, type: artifact.type },
        });
      }
    }
  },
};
