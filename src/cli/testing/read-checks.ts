// Checks in test files and Scenario files, with the wrapper the reference runtime puts around them.

import { OptionReader } from "../../adapter/tool/option-reader.ts";
import { isObject, type Json, type Path } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { checkTypeOf } from "../../core/check-names.ts";
import { checkTypeNames } from "../../pack/check/compositions/check-table.ts";
import { isJudged } from "./judge-check.ts";
import type { Check } from "./pack-test.ts";

export interface ReadChecksOptions {
  readonly path: Path;
  readonly problems: OptionReader["problems"];
  readonly place: (path: Path) => string;
  /** `keep`: a type that cannot be judged stays, and is reported when the test has run. */
  readonly unjudged: "refuse" | "keep";
}

export function readChecks(value: Json | undefined, options: ReadChecksOptions): readonly Check[] {
  const { path, problems } = options;
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    problems.push({ path, message: "checks are a list of { type, params }" });
    return [];
  }
  return (value as readonly Json[]).flatMap((item, index) => readCheck(item, [...path, index], options));
}

function readCheck(
  item: Json,
  path: Path,
  { problems, place, unjudged }: ReadChecksOptions,
): readonly Check[] {
  if (!isObject(item)) {
    problems.push({ path, message: "a check is a mapping with `type` and `params`" });
    return [];
  }
  const reader = new OptionReader(item, path, problems);
  const type = reader.neededText("type");
  const params = reader.object("params") ?? {};
  const message = reader.text("message");
  const when = reader.object("when");
  if (unjudged === "keep") reader.any("pass_threshold");
  reader.end();
  const check: Check = {
    type,
    params,
    place: place(path),
    ...(message !== undefined && { message }),
    ...(when !== undefined && { when }),
  };
  const unwrapped = type === "assertion" ? inner(check) : check;
  const problem = typeProblem(unwrapped.type, unjudged);
  if (type !== "" && problem !== undefined) reader.wrong("type", problem);
  return [unwrapped];
}

/**
 * A check that says yes or no reaches every score above 0 with yes alone; what is measured otherwise keeps
 * its wrapper, which nothing judges.
 */
function inner(check: Check): Check {
  const { eval_type, eval_params, min_score, max_score } = check.params;
  const plain = typeof eval_type === "string" && max_score === undefined;
  const params = isObject(eval_params) ? eval_params : {};
  return plain && (min_score === undefined || min_score === 1)
    ? { ...check, type: eval_type, params }
    : check;
}

function typeProblem(type: string, unjudged: "refuse" | "keep"): string | undefined {
  if (isJudged(type)) return undefined;
  const known = checkTypeNames();
  if (known.includes(checkTypeOf(type)))
    return unjudged === "keep" ? undefined : `\`${type}\` cannot be judged by packloop test`;
  const meant = suggest(type, known);
  return `\`${type}\` is not a type of check${meant === undefined ? "" : ` (did you mean \`${meant}\`?)`}`;
}
