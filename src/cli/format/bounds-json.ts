// The `bounds` of the JSON document: for each file the worst case of its runs from the workflow's entry.

import { put } from "../../base/json.ts";
import { boundJson } from "../../host/pack-view.ts";
import type { Bound } from "../../pack/flow/bound.ts";
import type { CheckReport, FileReport } from "./check-report.ts";

/** Keyed by file; further packs of one file, which ConfigMaps can hold, are keyed `FILE#datakey`. */
export function boundsJson(report: CheckReport): Readonly<Record<string, unknown>> {
  const bounds: Record<string, unknown> = {};
  for (const file of report.files) {
    for (const [key, bound] of boundsOf(file)) put(bounds, unused(bounds, key), boundJson(bound));
  }
  return bounds;
}

/** A pack whose states do not link has no bound, and so no entry. */
function boundsOf({ file, packs }: FileReport): readonly (readonly [string, Bound])[] {
  return packs.flatMap(({ embeddedAs, bounds: [first] }, index) =>
    first === undefined ? [] : [[index === 0 ? file : `${file}#${embeddedAs}`, first] as const],
  );
}

/** Two ConfigMaps of one file may use the same data key. The bound of the loop is the number of entries. */
function unused(bounds: object, key: string): string {
  if (!Object.hasOwn(bounds, key)) return key;
  let count = 2;
  while (Object.hasOwn(bounds, `${key}#${count}`)) count++;
  return `${key}#${count}`;
}
