// How the outputs of a parallel part's branches become one: in the order of the list, never of arrival.

import { type Json, type JsonObject, put } from "../base/json.ts";

export interface Merged {
  readonly id: string;
  readonly output: Json;
}

export const REDUCERS: readonly string[] = ["append", "replace", "barrier"];

/** The parallel part's output: an object with the merged value under `into`. */
export function merged(
  { strategy, into }: { readonly strategy: string; readonly into: string },
  branches: readonly Merged[],
): JsonObject {
  const result: Record<string, Json> = {};
  put(result, into, reduced(strategy, branches));
  return result;
}

function reduced(strategy: string, branches: readonly Merged[]): Json {
  switch (strategy) {
    case "append":
      // A list extends the list.
      return branches.flatMap(({ output }) =>
        Array.isArray(output) ? (output as readonly Json[]) : [output],
      );
    case "replace":
      return branches.at(-1)?.output ?? null;
    default: {
      const byId: Record<string, Json> = {};
      for (const { id, output } of branches) put(byId, id, output);
      return byId;
    }
  }
}
