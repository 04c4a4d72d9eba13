// What makes a finding the same finding in the next report: its code, file, place in the document and the
// names it speaks of. Lines and numbers are left out, so editing elsewhere in the file does not make it new.

import { createHash } from "node:crypto";
import { canonical, isObject, type Json, put } from "../../base/json.ts";
import type { Diagnostic } from "../../pack/diagnostic.ts";

/** SHA-256 in hexadecimal, one for each finding, no two alike: equal findings are counted. */
export function fingerprints(diagnostics: readonly Diagnostic[]): readonly string[] {
  const seen = new Map<string, number>();
  return diagnostics.map(({ code, file, pointer, data }) => {
    const identity = canonical([code, file.replace(/^\.\//, ""), pointer, namesIn(data)]);
    const before = seen.get(identity) ?? 0;
    seen.set(identity, before + 1);
    return createHash("sha256")
      .update(`${identity}${before === 0 ? "" : before}`)
      .digest("hex");
  });
}

/** The value with everything but strings taken out. */
function namesIn(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => namesIn(item));
  if (!isObject(value)) return typeof value === "string" ? value : null;
  const names: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) put(names, key, namesIn(item));
  return names;
}
