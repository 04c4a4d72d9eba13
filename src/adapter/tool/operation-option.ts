// The option `op` that says what a built-in tool does.

import type { OptionReader } from "./option-reader.ts";

/** Reports a missing or unknown one; then nothing will be run, and the first one stands in. */
export function operationOption<T extends string>(reader: OptionReader, names: readonly [T, ...T[]]): T {
  if (reader.any("op") === undefined) reader.neededText("op");
  return reader.oneOf("op", names) ?? names[0];
}
