// Holds a value against a JSON Schema that may come from a model: schemas can refer to themselves without end
// and have patterns that never finish.

import { isObject, type Json } from "../../../base/json.ts";
import { withinTime } from "../time-limit.ts";
import { ToolProblem } from "../tool-problem.ts";

export interface SchemaError {
  /** RFC 6901; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

const TIME_MS = 2000;

/** Empty when the value fits. */
export async function schemaErrors(schema: Json, value: Json): Promise<readonly SchemaError[]> {
  if (!isObject(schema) && typeof schema !== "boolean")
    throw new ToolProblem("bad_schema", "the schema is neither an object nor true or false");
  const { Validator } = await import("@cfworker/json-schema");
  // The validator writes into the schema it is given.
  const own = JSON.parse(JSON.stringify(schema)) as ConstructorParameters<typeof Validator>[0];
  const checked = withinTime({ ms: TIME_MS, what: "the check against the schema" }, () => {
    try {
      return new Validator(own, draftOf(schema), false).validate(value);
    } catch (error) {
      // What the validator throws is always about the schema: references to nothing, endless ones, patterns.
      if (!(error instanceof Error)) throw error;
      throw new ToolProblem("bad_schema", `the schema cannot be used: ${error.message.split("\n")[0]}`, {
        cause: error,
      });
    }
  });
  if (checked.valid) return [];
  const mistakes = checked.errors.filter(({ keyword }) => !ONLY_BELOW.has(keyword));
  const deepest = mistakes.toSorted((a, b) => depth(b.instanceLocation) - depth(a.instanceLocation));
  return deepest.map(({ instanceLocation, error }) => ({
    path: instanceLocation.replace(/^#/, ""),
    message: error.slice(0, 300),
  }));
}

/** Their errors only say that there is one further down. */
const ONLY_BELOW = new Set(["items", "prefixItems", "properties", "patternProperties"]);

const depth = (pointer: string): number => pointer.split("/").length;

function draftOf(schema: Json): "4" | "7" | "2019-09" | "2020-12" {
  const named = isObject(schema) ? schema["$schema"] : undefined;
  const draft = typeof named === "string" ? /draft-0([467])|(2019-09)/.exec(named) : null;
  if (draft?.[1] === "4") return "4";
  return draft === null ? "2020-12" : draft[2] === undefined ? "7" : "2019-09";
}
