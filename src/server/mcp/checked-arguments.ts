// The arguments of a call, held against the tool's schema: what does not fit is refused before anything
// happens.

import type { z } from "@hono/zod-openapi";
import { type JsonObject, toPointer } from "../../base/json.ts";
import { Problem } from "../problem.ts";

export function checkedArguments<T>(schema: z.ZodType<T>, args: JsonObject): T {
  const result = schema.safeParse(args);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, 20).map(({ path, message }) => ({
    pointer: toPointer(path.map((part) => (typeof part === "symbol" ? String(part) : part))),
    message: message.slice(0, 300),
  }));
  const [first] = errors;
  const where = first === undefined || first.pointer === "" ? "" : ` (at ${first.pointer})`;
  throw new Problem("bad-request", `${first?.message ?? "the arguments do not fit"}${where}`, {
    extras: { errors },
  });
}
