// Shapes that several routes share, as the API's document shows them and as requests are checked.

import { z } from "@hono/zod-openapi";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { PROBLEMS } from "../problem.ts";

/** Any value, taken as it is: keys such as `__proto__` are keys. */
export const jsonValue = z.unknown().openapi({ description: "Any JSON value." }) as z.ZodType<Json>;

export const jsonObject = z
  .custom<JsonObject>(isObject, { error: "expected an object" })
  .openapi({ type: "object", additionalProperties: true });

export const runParams = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(500)
    .openapi({ description: "A run. The slash of an agent's run is written %2F." }),
});

export const whole = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A whole number in a query. */
export const wholeText = z
  .string()
  .regex(/^\d{1,15}$/, "expected a whole number")
  .transform(Number)
  .openapi({ type: "integer", minimum: 0 });

export const positiveText = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, "expected a whole number from 1")
  .transform(Number)
  .openapi({ type: "integer", minimum: 1 });

export const limitText = (most: number, usual: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,5}$/, "expected a whole number from 1")
    .transform((text) => Math.min(Number(text), most))
    .default(usual)
    .openapi({ type: "integer", minimum: 1, maximum: most, default: usual });

export const flagText = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .openapi({ type: "boolean" });

/** Whether large values are given whole. */
export const valuesText = z.enum(["all", "short"]).optional().openapi({
  description:
    "`short` leaves out the rest of values over 64 KiB. A mark in its place, U+F8F0 TURN:SIZE U+F8F1, names the turn that has it.",
});

export const time = z.string().openapi({ format: "date-time", example: "2026-01-31T12:00:00.000Z" });

export const by = z.string().min(1).max(200).openapi({ description: "Who says it; kept in the journal." });

export const status = z
  .enum(["running", "waiting", "completed", "budget_exhausted", "failed", "cancelled"])
  .openapi("Status");

export const packRef = z
  .object({ id: z.string(), version: z.string(), digest: z.string() })
  .openapi("PackRef");

export const used = z
  .object({
    visits: z.number(),
    tool_calls: z.number(),
    model_calls: z.number(),
    input_tokens: z.number(),
    output_tokens: z.number(),
    cost_usd: z.number(),
    wall_ms: z.number(),
  })
  .openapi("Used");

export const listOf = (items: z.ZodType, name: string) =>
  z
    .object({
      items: z.array(items),
      next_cursor: z.string().nullable().openapi({ description: "Null on the last page." }),
    })
    .openapi(name);

const codes = Object.keys(PROBLEMS) as [string, ...string[]];

export const problem = z
  .looseObject({
    type: z.string().openapi({ example: "urn:packloop:problem:unknown-run" }),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    instance: z.string(),
    code: z.enum(codes),
    errors: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
    diagnostics: z.array(z.looseObject({})).optional(),
    allowed_events: z.array(z.string()).optional(),
    limit: z.number().optional(),
  })
  .openapi("Problem");
