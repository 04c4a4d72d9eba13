// PP106: a workflow of version 1 with fields of RFC 0009.

import type { Path } from "../../../base/json.ts";
import { replaceScalar } from "../../fix/edits.ts";
import type { PackFile } from "../../shape/generated/pack-file.ts";
import { onKey, onValue, type Rule } from "../rule.ts";

const STATE_FIELDS = ["terminal", "max_visits", "on_max_visits", "artifacts"] as const;

export const loopVersion: Rule = {
  code: "PP106",
  severity: "info",
  fix: "safe",
  title: "version 1 workflow uses loop fields",
  explain:
    "`workflow.version` is the least runtime version the pack needs. Guards, terminal states, artifacts " +
    "and budgets came with RFC 0009, whose packs say 2; a runtime of version 1 may ignore them and loop " +
    "without end. Set `version: 2`; nothing else changes.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Done when finished. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 1
  entry: work
  states:
    work: { prompt_task: work, on_event: { Done: finish } }
    finish: { prompt_task: close, terminal: true }
`,
  good: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Emit Done when finished. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say goodbye. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { Done: finish } }
    finish: { prompt_task: close, terminal: true }
`,
  check: ({ pack, root, text, isBroken }, report) => {
    const path = ["workflow", "version"];
    if (pack.workflow?.version !== 1 || isBroken(...path)) return;
    const used = [...loopFields(pack.workflow)];
    const [first] = used;
    if (first === undefined) return;
    const field = String(first.at(-1));
    report({
      at: onValue(...path),
      message: `version 1 workflow uses \`${field}\``,
      why: "2 says a loop-aware runtime is needed",
      help: "set `version: 2`",
      related: [{ at: onKey(...first), message: `\`${field}\` is used here` }],
      fix: { title: "set `version: 2`", edits: replaceScalar(root, text, path, 2) },
      data: { fields: [...new Set(used.map((one) => String(one.at(-1))))] },
    });
  },
};

function* loopFields({ states, engine }: NonNullable<PackFile["workflow"]>): Generator<Path> {
  for (const [name, state] of Object.entries(states)) {
    for (const field of STATE_FIELDS) {
      if (state[field] !== undefined) yield ["workflow", "states", name, field];
    }
  }
  if (engine?.budget !== undefined) yield ["workflow", "engine", "budget"];
}
