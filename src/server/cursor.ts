// Cursors of lists: opaque to clients, and a wrong one is said to be wrong.

import { z } from "@hono/zod-openapi";
import { Problem } from "./problem.ts";

export const cursorText = z
  .string()
  .max(1_000)
  .openapi({ description: "The `next_cursor` of the page before." });

export const toCursor = (place: string | undefined): string | null =>
  place === undefined ? null : Buffer.from(place, "utf8").toString("base64url");

export function fromCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const place = Buffer.from(cursor, "base64url").toString("utf8");
  if (toCursor(place) !== cursor) throw badCursor(cursor);
  return place;
}

export const badCursor = (cursor: string): Problem =>
  new Problem(
    "bad-request",
    `\`${cursor.slice(0, 100)}\` is not a cursor of this list (begin anew without it)`,
  );
