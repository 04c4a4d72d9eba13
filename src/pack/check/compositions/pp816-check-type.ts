// PP816: a validator or eval of an unknown type, or without the parameters its type works with.

import { isObject, type Json, type JsonObject, type Path } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { judgesText } from "../../../core/check-names.ts";
import { type CheckContext, onKey, onValue, type Report, type Rule } from "../rule.ts";
import { checkTypeNames, type Need, needsOf, type ParamKind } from "./check-table.ts";
import { allValidators, evalLevels } from "./eval-list.ts";

export const checkType: Rule = {
  code: "PP816",
  severity: "warning",
  title: "validator or eval that cannot judge",
  explain:
    "A validator or eval names a type packloop does not know, or lacks a parameter the type cannot do " +
    "without. A control that cannot judge is not skipped in silence: a run that needs it is refused. " +
    "Correct the type or the parameters, or switch it off with `enabled: false`.",
  bad: `
prompts:
  greet:
    id: greet
    name: Greet
    version: 1.0.0
    system_template: Say hello.
    validators: [{ type: lenght, params: { max_characters: 200 } }]
`,
  good: `
prompts:
  greet:
    id: greet
    name: Greet
    version: 1.0.0
    system_template: Say hello.
    validators: [{ type: length, params: { max_characters: 200 } }]
`,
  check: (context, report) => {
    for (const { validator, path } of allValidators(context)) {
      const { type, enabled, params } = validator;
      if (enabled === false) continue;
      judge(context, report, { what: "validator", type, params: params as JsonObject | undefined, path });
    }
    for (const { eval: one, path } of evalLevels(context).flat()) {
      if (one.enabled === false) continue;
      judge(context, report, {
        what: "eval",
        type: one.type,
        params: one.params as JsonObject | undefined,
        path,
      });
    }
  },
};

interface Judged {
  readonly what: "validator" | "eval";
  readonly type: string;
  readonly params: JsonObject | undefined;
  readonly path: Path;
}

function judge(context: CheckContext, report: Report, judged: Judged): void {
  const { what, type, params, path } = judged;
  if (context.isBroken(...path, "type") || context.isBroken(...path, "params")) return;
  const needs = needsOf(type);
  if (needs === undefined) {
    reportUnknown(report, judged);
    return;
  }
  if (what === "validator" && !judgesText(type)) {
    report({
      at: onValue(...path, "type"),
      message: `validator \`${type}\` judges what packloop cannot judge by itself`,
      why: "it needs another model or a service, and is not skipped in silence: a run that needs it is refused",
      help: "make it an eval, or switch it off with `enabled: false`",
      data: { what, type },
    });
    return;
  }
  const unmet = needs.find((need) => problemOf(need, params) !== undefined);
  if (unmet !== undefined) {
    reportUnmet(report, judged, unmet);
    return;
  }
  const direction =
    params !== undefined && Object.hasOwn(params, "direction") ? params["direction"] : "output";
  if (what === "validator" && direction !== "input" && direction !== "output" && direction !== "both") {
    report({
      at: onValue(...path, "params", "direction"),
      message: `\`direction\` of validator \`${type}\` is none of \`input\`, \`output\`, \`both\``,
      why: "it says which messages are judged",
      help: "use one of the three",
      data: { what, type, param: "direction" },
    });
  }
}

function reportUnknown(report: Report, { what, type, path }: Judged): void {
  const meant = suggest(type, checkTypeNames());
  report({
    at: onValue(...path, "type"),
    message: `${what} type \`${type}\` is unknown`,
    why: "it is not skipped in silence: a run that needs it is refused",
    help: "use a known type, or switch it off with `enabled: false`",
    ...(meant !== undefined && { label: `did you mean \`${meant}\`?` }),
    data: { what, type, suggestion: meant ?? null },
  });
}

function reportUnmet(report: Report, { what, type, params, path }: Judged, need: Need): void {
  const problem = problemOf(need, params);
  if (problem === undefined) return;
  const why = "without it nothing can be judged: a run that needs it is refused";
  if (problem.wrong !== undefined) {
    report({
      at: onValue(...path, "params", problem.wrong),
      message: `\`${problem.wrong}\` of ${what} \`${type}\` is not ${described[need.kind]}`,
      why,
      help: `write ${described[need.kind]}`,
      data: { what, type, param: problem.wrong },
    });
    return;
  }
  const { typo } = problem;
  const at =
    typo !== undefined
      ? onKey(...path, "params", typo.key)
      : params === undefined
        ? onValue(...path, "type")
        : onKey(...path, "params");
  const names = need.names.map((name) => `\`${name}\``).join(", ");
  report({
    at,
    message: `${what} \`${type}\` needs ${need.names.length === 1 ? names : `one of ${names}`}`,
    why,
    help: `give it ${described[need.kind]}`,
    ...(typo !== undefined && { label: `did you mean \`${typo.meant}\`?` }),
    data: { what, type, params: need.names, suggestion: typo?.meant ?? null },
  });
}

const described: Readonly<Record<ParamKind, string>> = {
  count: "a number of 0 or more",
  text: "a text",
  texts: "a list of texts",
  schema: "a JSON Schema",
};

interface Problem {
  /** The parameter that is there and cannot be used. */
  readonly wrong?: string;
  /** A key that was probably meant to be the parameter. */
  readonly typo?: { readonly key: string; readonly meant: string };
}

function problemOf({ names, kind }: Need, params: JsonObject = {}): Problem | undefined {
  const given = names.filter((name) => Object.hasOwn(params, name));
  if (given.some((name) => isUsable(params[name] as Json, kind))) return undefined;
  if (given[0] !== undefined) return { wrong: given[0] };
  for (const key of Object.keys(params)) {
    const meant = suggest(key, names);
    if (meant !== undefined) return { typo: { key, meant } };
  }
  return {};
}

function isUsable(value: Json, kind: ParamKind): boolean {
  switch (kind) {
    case "count":
      return typeof value === "number" && value >= 0;
    case "text":
      return typeof value === "string" && value !== "";
    case "texts":
      return Array.isArray(value) && value.every((item: Json) => typeof item === "string");
    case "schema":
      return isObject(value) || typeof value === "string" || typeof value === "boolean";
  }
}
