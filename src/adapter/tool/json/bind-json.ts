// The built-in tool `json`: hold a value against a schema, query it by JSONPath, patch it.

import { realpath } from "node:fs/promises";
import { isObject, type Json, type JsonObject } from "../../../base/json.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { argumentReader, type CallArguments, type Spellings } from "../call-arguments.ts";
import { atFile } from "../fs/reach.ts";
import { operationOption } from "../operation-option.ts";
import type { OptionReader } from "../option-reader.ts";
import { withinTime } from "../time-limit.ts";
import { answerOf, ToolProblem } from "../tool-problem.ts";
import { merged, patched } from "./patch-json.ts";
import { schemaErrors } from "./schema-errors.ts";

const BYTES_MAX = 5 * 1024 * 1024;
const VALUES_MAX = 2000;
const ERRORS_MAX = 20;
const TIME_MS = 2000;

type OperationName = "validate" | "query" | "patch";

/** What a binding fixes; a call gives the rest. */
interface Fixed {
  readonly schema: Json | undefined;
  readonly query: string | undefined;
}

export function bindJson(reader: OptionReader, around: Surroundings): BoundTool {
  const op = operationOption<OperationName>(reader, ["validate", "query", "patch"]);
  const fixed: Fixed = {
    schema: op === "validate" ? reader.any("schema") : undefined,
    query: op === "query" ? reader.text("query") : undefined,
  };
  const argumentsOf = argumentReader(reader, SPELLINGS[op]);
  return {
    tier: "read",
    safe: true,
    definition: DEFINITIONS[op],
    call: (given, context) =>
      answerOf(async () => {
        const args = argumentsOf(given);
        const document = await documentOf(args, () => around.workspaceOf(context.run));
        if (op === "validate") return validate(args, document, fixed);
        return op === "query" ? query(args, document, fixed) : patch(args, document);
      }),
  };
}

async function validate(args: CallArguments, document: Json, fixed: Fixed): Promise<Json> {
  const schema = fixed.schema ?? parsed(args.needed("schema"), "schema");
  const errors = await schemaErrors(schema, document);
  const shown = errors.slice(0, ERRORS_MAX).map(({ path, message }) => ({ path, message }));
  const left = errors.length - shown.length;
  return { valid: errors.length === 0, errors: shown, ...(left > 0 && { left_out: left }) };
}

async function query(args: CallArguments, document: Json, fixed: Fixed): Promise<Json> {
  const expression = fixed.query ?? args.neededText("query");
  const jsonPath = await import("jsonpath-rfc9535");
  const found = withinTime({ ms: TIME_MS, what: "the query" }, () => {
    try {
      return jsonPath.query(document as Parameters<typeof jsonPath.query>[0], expression);
    } catch (error) {
      // A query that is no JSONPath; on any value a right one succeeds.
      if (!(error instanceof Error)) throw error;
      throw new ToolProblem(
        "bad_query",
        `\`${expression.slice(0, 200)}\` is no JSONPath: ${error.message.slice(0, 300)}`,
        {
          cause: error,
        },
      );
    }
  });
  const values = fitting(found);
  const left = found.length - values.length;
  return { values, ...(left > 0 && { left_out: left }) };
}

/** A query can find the same parts again and again: more than the document has. */
function fitting(found: readonly Json[]): readonly Json[] {
  let room = BYTES_MAX;
  const values: Json[] = [];
  for (const value of found.slice(0, VALUES_MAX)) {
    room -= JSON.stringify(value).length;
    if (room < 0) break;
    values.push(value);
  }
  return values;
}

async function patch(args: CallArguments, document: Json): Promise<Json> {
  const change = parsed(args.needed("patch"), "patch");
  if (!Array.isArray(change) && !isObject(change))
    throw new ToolProblem("bad_patch", "the patch is neither a list of operations nor an object to merge");
  const result = Array.isArray(change)
    ? await patched(document, change as readonly Json[], BYTES_MAX)
    : merged(document, change);
  refuseLarge(result);
  return { document: result };
}

async function documentOf(args: CallArguments, workspaceOf: () => Promise<string>): Promise<Json> {
  const file = args.text("file");
  const given = args.any("document");
  if (given === undefined && file !== undefined)
    return parsedText(await fileText(await realpath(await workspaceOf()), file), file);
  const document = parsed(given ?? args.needed("document"), "document");
  refuseLarge(document);
  return document;
}

async function fileText(workspace: string, path: string): Promise<string> {
  return atFile(workspace, path, async ({ folder, name }) => {
    if ((await folder.entry(name)) === undefined)
      throw new ToolProblem("not_found", `\`${path}\` does not exist`);
    const file = await folder.file(name);
    try {
      if ((await file.stat()).size > BYTES_MAX) throw tooLarge();
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  });
}

/** Models give JSON as a value or as its text; a text that is no object or list is meant as it is. */
function parsed(value: Json, name: string): Json {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  if (value.length > BYTES_MAX) throw tooLarge();
  return parsedText(value, name);
}

function parsedText(text: string, name: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ToolProblem("not_json", `\`${name}\` is not JSON: ${error.message.slice(0, 200)}`, {
      cause: error,
    });
  }
}

function refuseLarge(value: Json): void {
  if (JSON.stringify(value).length > BYTES_MAX) throw tooLarge();
}

const tooLarge = (): ToolProblem => new ToolProblem("too_large", `JSON of more than ${BYTES_MAX} bytes`);

const DOCUMENT = ["json", "data", "value", "input", "instance", "object", "content"];
const FILE = ["file_path", "filename"];

const SPELLINGS: Readonly<Record<OperationName, Spellings>> = {
  validate: { document: DOCUMENT, file: [...FILE, "path"], schema: ["json_schema"] },
  query: { document: DOCUMENT, file: FILE, query: ["path", "jsonpath", "expression", "selector"] },
  patch: { document: DOCUMENT, file: [...FILE, "path"], patch: ["operations", "changes", "merge"] },
};

const document = { description: "the JSON value" };
const file = { type: "string", description: "or a JSON file of the workspace" };

const takes = (description: string, properties: JsonObject, required: readonly string[]) => ({
  description,
  parameters: { type: "object", properties, required } as JsonObject,
});

const DEFINITIONS: Readonly<Record<OperationName, NonNullable<BoundTool["definition"]>>> = {
  validate: takes(
    "Checks a JSON value against a JSON Schema.",
    { document, file, schema: { type: "object" } },
    [],
  ),
  query: takes(
    "Finds parts of a JSON value by a JSONPath (RFC 9535).",
    { document, file, query: { type: "string", description: "such as $.items[*].name" } },
    ["query"],
  ),
  patch: takes(
    "Changes a JSON value and returns the result; nothing is stored.",
    { document, file, patch: { description: "a JSON Patch (RFC 6902), or an object to merge (RFC 7396)" } },
    ["patch"],
  ),
};
