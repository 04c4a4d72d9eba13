// An open question as a form that a client shows to its user, and what the user filled in as what is said to
// the question. Forms of the protocol are flat, so everything deeper is written as JSON in a text field.

import { get, isObject, type Json, type JsonObject, put } from "../../base/json.ts";
import { needsAuth, type OpenQuestion } from "../open-questions.ts";
import { Problem } from "../problem.ts";

export interface QuestionForm {
  readonly message: string;
  readonly requestedSchema: JsonObject;
}

export function formOf(question: OpenQuestion): QuestionForm {
  const { run, state, wait, text } = question;
  const where = state === null ? `Run ${run}` : `Run ${run} in state ${state}`;
  const hash = wait.sha256 === undefined ? "" : `\nSHA-256 of the arguments: ${wait.sha256}`;
  const properties: Record<string, Json> = {};
  for (const { name, shown } of fieldsOf(question)) put(properties, name, shown);
  const required = fieldsOf(question).flatMap(({ name, isNeeded }) => (isNeeded ? [name] : []));
  return {
    // A tool's question is asked in its own words.
    message: wait.kind === "answer" ? text : `${where} waits: ${text}${hash}`,
    requestedSchema: { type: "object", properties, required },
  };
}

/** A page where somebody sees to it that the run is let in; the answer is only that it was opened. */
export function pageOf(question: OpenQuestion): string | undefined {
  const url = get(question.wait.question ?? null, "url");
  const isPage = needsAuth(question) && typeof url === "string" && /^https?:/i.test(url);
  return isPage && URL.canParse(url) ? url : undefined;
}

/** What was filled in. Whether it fits is judged as for everybody who answers. */
export function saidIn(question: OpenQuestion, content: JsonObject): Json {
  const said: Record<string, Json> = {};
  const artifacts: Record<string, Json> = {};
  for (const { name, at, isJson, isNeeded } of fieldsOf(question)) {
    const given = get(content, name) ?? null;
    // An empty field that need not be filled in was left alone.
    if (given === null || (given === "" && !isNeeded)) continue;
    const value = readIn(given, isJson);
    if (at === WHOLE) return value;
    put(at === ARTIFACTS ? artifacts : said, at === ARTIFACTS ? name.slice(ARTIFACT.length) : name, value);
  }
  if (!isGroup(question.schema)) throw new Problem("bad-request", "`answer` is missing from the form");
  return Object.keys(artifacts).length === 0 ? said : { ...said, artifacts };
}

const readIn = (given: Json, isJson: boolean): Json =>
  isJson && typeof given === "string" ? jsonOrText(given) : given;

/** What was filled into the field that `formField` made of the schema; undefined for nothing. */
export function valueIn(content: JsonObject, name: string, schema: JsonObject): Json | undefined {
  const given = get(content, name) ?? undefined;
  return given === undefined ? undefined : readIn(given, formField(name, schema).isJson);
}

/** The field is all that is said, a part of it, or one of the artifacts in it. */
const WHOLE = "whole";
const PART = "part";
const ARTIFACTS = "artifacts";

interface Field {
  readonly name: string;
  readonly shown: JsonObject;
  readonly at: typeof WHOLE | typeof PART | typeof ARTIFACTS;
  /** Written as JSON where it is more than a text. */
  readonly isJson: boolean;
  readonly isNeeded: boolean;
}

function fieldsOf({ schema, wait }: OpenQuestion): readonly Field[] {
  if (!isGroup(schema)) {
    const { shown, isJson } = formField("The answer", schema);
    const isAnything = Object.keys(schema).length === 0;
    return [{ name: "answer", shown, at: WHOLE, isJson: isJson && !isAnything, isNeeded: true }];
  }
  const needed = get(schema, "required");
  const isNeeded = (name: string) => Array.isArray(needed) && (needed as readonly Json[]).includes(name);
  return Object.entries(schema["properties"] as JsonObject).flatMap(([name, part]): readonly Field[] => {
    if (wait.kind === "event" && name === ARTIFACTS) return artifactFields(part);
    // The step says which arguments were read.
    if (wait.kind === "approval" && name === "sha256") return [];
    return [{ name, ...formField(name, part), at: PART, isNeeded: isNeeded(name) }];
  });
}

const isGroup = (schema: JsonObject): boolean => {
  const properties = get(schema, "properties");
  return get(schema, "type") === "object" && isObject(properties) && Object.keys(properties).length > 0;
};

/** The prefix keeps names of artifacts apart from ours. */
const ARTIFACT = "artifact_";

/** As texts: a text for an artifact of JSON is read as JSON (S33). */
function artifactFields(group: Json): readonly Field[] {
  return Object.entries((get(group, "properties") ?? {}) as JsonObject).map(([name, spec]) => {
    const type = String(get(spec, "contentMediaType") ?? "");
    const description = String(get(spec, "description") ?? "");
    const title = `Artifact ${name} (${type})${description === "" ? "" : `: ${description}`}`;
    const shown = { type: "string", title };
    return { name: `${ARTIFACT}${name}`, shown, at: ARTIFACTS, isJson: false, isNeeded: false };
  });
}

const PRIMITIVES: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean"]);
/** What the protocol knows of a field; a form with more may be refused by a client. */
const KNOWN = [
  ...["type", "title", "description", "default", "format"],
  ...["minLength", "maxLength", "minimum", "maximum"],
];

export function formField(fallback: string, schema: Json): Pick<Field, "shown" | "isJson"> {
  const given = get(schema, "title");
  const title = typeof given === "string" ? given : fallback;
  const choices = get(schema, "enum");
  if (Array.isArray(choices)) {
    const values = choices as readonly Json[];
    const isText = values.every((one) => typeof one === "string");
    const texts = values.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
    return { shown: { type: "string", title, enum: texts }, isJson: !isText };
  }
  if (!PRIMITIVES.has(String(get(schema, "type"))))
    return {
      shown: { type: "string", title: `${title}, as JSON where it is more than a text` },
      isJson: true,
    };
  const shown: Record<string, Json> = { title };
  for (const name of KNOWN) {
    const value = get(schema, name);
    if (value !== undefined) shown[name] = value;
  }
  return { shown, isJson: false };
}

function jsonOrText(value: string): Json {
  try {
    return JSON.parse(value) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return value;
    throw error;
  }
}
