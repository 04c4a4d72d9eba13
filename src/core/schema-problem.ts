// Whether a value fits a JSON Schema of a pack, and the one thing to say when it does not.

import { Validator } from "@cfworker/json-schema";
import type { Json, JsonObject } from "../base/json.ts";
import { kept } from "../base/kept.ts";

export interface SchemaProblem {
  /** A path below the value, empty for the value itself. */
  readonly where: string;
  readonly error: string;
}

const validators = new WeakMap<JsonObject, Validator>();

export function schemaProblem(schema: JsonObject, value: Json): SchemaProblem | undefined {
  const validator = kept(validators, schema, () => {
    // The validator writes into the schema it is given; programs are frozen.
    const copy = JSON.parse(JSON.stringify(schema)) as ConstructorParameters<typeof Validator>[0];
    return new Validator(copy, "2020-12", false);
  });
  const checked = judged(validator, value);
  if (typeof checked === "string") return { where: "", error: checked };
  if (checked.valid) return undefined;
  // The deepest error says most; those above it only say that something below is wrong.
  const [deepest] = checked.errors.toSorted((a, b) => b.instanceLocation.length - a.instanceLocation.length);
  const where = (deepest?.instanceLocation ?? "#").replace(/^#\/?/, "");
  return { where, error: deepest?.error ?? "not allowed" };
}

/** A schema may be unfit itself, which shows only where it is reached. Nothing fits it then. */
function judged(validator: Validator, value: Json): ReturnType<Validator["validate"]> | string {
  try {
    return validator.validate(value);
  } catch (error) {
    if (error instanceof Error) return `the schema cannot be judged by: ${error.message.split("\n")[0]}`;
    throw error;
  }
}
