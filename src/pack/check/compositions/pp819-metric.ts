// PP819: a metric whose range is empty, or which two evals export with different types.

import { LineIndex } from "../../read/line-index.ts";
import { spanOf } from "../place.ts";
import { onValue, type Rule } from "../rule.ts";
import { evalLevels } from "./eval-list.ts";

export const metric: Rule = {
  code: "PP819",
  severity: "warning",
  title: "metric contradicts itself",
  explain:
    "A range whose `min` is above its `max` holds no value. A metric name that two evals use with " +
    "different types cannot be exported: collectors keep one type for each name. Swap the bounds, or " +
    "rename one metric.",
  bad: `
evals:
  - { id: a, type: json_valid, trigger: every_turn, metric: { name: score, type: gauge } }
  - { id: b, type: json_valid, trigger: every_turn, metric: { name: score, type: counter } }
`,
  good: `
evals:
  - { id: a, type: json_valid, trigger: every_turn, metric: { name: score, type: gauge } }
  - { id: b, type: json_valid, trigger: every_turn, metric: { name: score_total, type: counter } }
`,
  check: (context, report) => {
    let lines: LineIndex | undefined;
    const lineIndex = () => (lines ??= new LineIndex(context.text));
    const first = new Map<string, { type: string; path: readonly (string | number)[] }>();
    for (const { eval: one, path } of evalLevels(context).flat()) {
      if (one.metric === undefined || one.enabled === false) continue;
      const { name, type, range } = one.metric;
      if (range?.min !== undefined && range.max !== undefined && range.min > range.max) {
        report({
          at: onValue(...path, "metric", "range", "min"),
          message: `metric \`${name}\`: minimum ${range.min}, maximum ${range.max}`,
          why: "no value is in the range",
          help: "swap them",
          data: { metric: name, min: range.min, max: range.max },
        });
      }
      const at = [...path, "metric", "type"];
      const before = first.get(name);
      if (before === undefined) first.set(name, { type, path: at });
      if (before === undefined || before.type === type) continue;
      const { line, column } = lineIndex().position(spanOf(context.root, onValue(...before.path)).start);
      report({
        at: onValue(...at),
        message: `metric \`${name}\` is ${type} here, ${before.type} at ${line}:${column}`,
        why: "exporters need one type",
        help: "rename one",
        related: [{ at: onValue(...before.path), message: `${before.type} here` }],
        data: { metric: name, type, other: before.type, line, column },
      });
    }
  },
};
