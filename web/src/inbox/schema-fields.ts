// A JSON Schema as the fields of a form, and what was filled in as one value. What a form cannot ask for
// piece by piece is a field of JSON. Whether the answer fits is judged by whoever asked.

import { deepEqual, get, isObject, type Json, type JsonObject, put } from "../../../src/base/json.ts";
import { parsedJson } from "./json-field.ts";

export interface SchemaField {
  /** Where it goes in the answer; the empty path is the answer itself. */
  readonly path: readonly string[];
  readonly kind: "text" | "long" | "number" | "flag" | "choice" | "json";
  readonly label: string;
  readonly hint: string;
  readonly isNeeded: boolean;
  /** With `choice`. */
  readonly options: readonly Json[];
  readonly initial: string;
}

export type Filled = Readonly<Record<string, string>>;

/** The name of a field among what was filled in. */
export const fieldKey = ({ path }: Pick<SchemaField, "path">): string => JSON.stringify(path);

/** Groups deeper than this, and more fields than that, are written as JSON. */
const DEPTH_MAX = 3;
const FIELDS_MAX = 60;

export function fieldsOf(schema: JsonObject): readonly SchemaField[] {
  const fields = fieldsAt(schema, { path: [], name: "Answer", isNeeded: true });
  return fields.length <= FIELDS_MAX ? fields : [fieldAt({}, { path: [], name: "Answer", isNeeded: true })];
}

interface Place {
  readonly path: readonly string[];
  readonly name: string;
  readonly isNeeded: boolean;
}

function fieldsAt(schema: Json, place: Place): readonly SchemaField[] {
  const properties = get(schema, "properties");
  if (!isObject(properties) || Object.keys(properties).length === 0 || place.path.length >= DEPTH_MAX)
    return [fieldAt(schema, place)];
  const required = get(schema, "required");
  const needed: readonly Json[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([name, part]) =>
    fieldsAt(part, {
      path: [...place.path, name],
      name: place.path.length === 0 ? name : `${place.path.join(" ")} ${name}`,
      isNeeded: place.isNeeded && needed.includes(name),
    }),
  );
}

function fieldAt(schema: Json, { path, name, isNeeded }: Place): SchemaField {
  const [title, hint, given] = [get(schema, "title"), get(schema, "description"), get(schema, "default")];
  const kind = kindOf(schema);
  const options = get(schema, "enum");
  return {
    path,
    kind,
    label: typeof title === "string" && title !== "" ? title : name,
    hint: typeof hint === "string" ? hint : "",
    isNeeded,
    options: kind === "choice" ? (options as readonly Json[]) : [],
    initial: given === undefined ? "" : initialOf(kind, given, options),
  };
}

function initialOf(kind: SchemaField["kind"], given: Json, options: Json | undefined): string {
  if (kind === "choice") {
    const at = (options as readonly Json[]).findIndex((option) => deepEqual(option, given));
    return at === -1 ? "" : String(at);
  }
  return typeof given === "string" && kind !== "json" ? given : JSON.stringify(given);
}

function kindOf(schema: Json): SchemaField["kind"] {
  const options = get(schema, "enum");
  if (Array.isArray(options) && options.length > 0) return "choice";
  switch (get(schema, "type")) {
    case "boolean":
      return "flag";
    case "number":
    case "integer":
      return "number";
    case "string": {
      const longest = get(schema, "maxLength");
      return typeof longest === "number" && longest <= 100 ? "text" : "long";
    }
    default:
      return "json";
  }
}

export type FilledAnswer =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string };

/** Fields that are empty and not needed are left out. */
export function answerOf(fields: readonly SchemaField[], filled: Filled): FilledAnswer {
  let answer: Json = {};
  for (const field of fields) {
    const text = filled[fieldKey(field)] ?? field.initial;
    if (text.trim() === "" && field.kind !== "flag") {
      if (field.isNeeded) return { ok: false, message: `${field.label} is needed` };
      continue;
    }
    const read = valueOf(field, text);
    if (!read.ok) return read;
    if (field.path.length === 0) answer = read.value;
    else putAt(answer as Record<string, Json>, field.path, read.value);
  }
  return { ok: true, value: answer };
}

function valueOf({ kind, label, options, path }: SchemaField, text: string): FilledAnswer {
  switch (kind) {
    case "text":
    case "long":
      return { ok: true, value: text };
    case "flag":
      return { ok: true, value: text === "true" };
    case "number": {
      const number = Number(text);
      return Number.isFinite(number)
        ? { ok: true, value: number }
        : { ok: false, message: `${label} is not a number` };
    }
    case "choice":
      return { ok: true, value: options[Number(text)] ?? null };
    case "json": {
      const parsed = parsedJson(text);
      // A whole answer without a schema may be a plain text.
      if (!parsed.ok && path.length === 0) return { ok: true, value: text };
      return parsed.ok ? parsed : { ok: false, message: `${label}: ${parsed.message}` };
    }
  }
}

function putAt(into: Record<string, Json>, path: readonly string[], value: Json): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) return put(into, name, value);
  const group = Object.hasOwn(into, name) ? into[name] : undefined;
  const next = (isObject(group) ? group : {}) as Record<string, Json>;
  putAt(next, rest, value);
  put(into, name, next);
}
