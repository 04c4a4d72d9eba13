// What the API says about packs.

import { z } from "@hono/zod-openapi";
import { listOf, time } from "./shared.ts";

const diagnostics = z.array(z.looseObject({ code: z.string(), severity: z.string(), message: z.string() }));
const bound = z.looseObject({ terminates: z.boolean() });

const packLine = z
  .object({
    digest: z.string(),
    id: z.string(),
    version: z.string(),
    file: z.string(),
    registered_at: time.nullable(),
  })
  .openapi("PackLine");

export const packList = listOf(packLine, "PackList");

export const registeredPack = packLine.extend({ diagnostics, bound }).openapi("RegisteredPack");

export const pack = registeredPack
  .extend({ source: z.string(), program: z.looseObject({ id: z.string() }) })
  .openapi("Pack");

export const checkReport = z
  .object({
    files: z.number(),
    errors: z.number(),
    warnings: z.number(),
    diagnostics,
    bounds: z.record(z.string(), bound),
  })
  .openapi("CheckReport");
