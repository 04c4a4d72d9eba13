// The shapes of the API as JSON Schemas that a client can read without anything else.

import { OpenAPIHono, type z } from "@hono/zod-openapi";
import { isObject, type Json, type JsonObject, put } from "../../base/json.ts";

const NAME = "McpShape";
const REFERENCE = /^#\/components\/schemas\/(.+)$/;

/** As the API's document shows it, with what it refers to written out: our shapes do not hold themselves. */
export function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const made = new OpenAPIHono();
  made.openAPIRegistry.register(NAME, schema);
  const info = { title: NAME, version: "0" };
  const { components } = made.getOpenAPI31Document({ openapi: "3.1.0", info });
  const schemas = (components?.schemas ?? {}) as unknown as Readonly<Record<string, JsonObject>>;
  return writtenOut(schemas[NAME] ?? {}, schemas) as JsonObject;
}

function writtenOut(value: Json, schemas: Readonly<Record<string, JsonObject>>): Json {
  if (Array.isArray(value)) return value.map((item: Json) => writtenOut(item, schemas));
  if (!isObject(value)) return value;
  const name = REFERENCE.exec(String(value["$ref"] ?? ""))?.[1];
  if (name !== undefined) return writtenOut(schemas[name] ?? {}, schemas);
  const copy: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) put(copy, key, writtenOut(item, schemas));
  return copy;
}
