// `--format NAME[=FILE]`: a format and where it goes.

import { writeFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { usageError } from "./exit.ts";
import { reasonOf } from "./read-file.ts";

/** No file means stdout. */
export interface ReportTarget<Name extends string> {
  readonly format: Name;
  readonly file: string | undefined;
}

/** For an option that may be given several times. */
export function addTarget<Name extends string>(names: readonly Name[]) {
  return (value: string, before: readonly ReportTarget<Name>[]): readonly ReportTarget<Name>[] => {
    const at = value.indexOf("=");
    const given = at === -1 ? value : value.slice(0, at);
    const format = names.find((name) => name === given);
    if (format === undefined)
      throw new InvalidArgumentError(`\`${given}\` is not a format; expected one of ${names.join(", ")}`);
    return [...before, { format, file: at === -1 ? undefined : value.slice(at + 1) }];
  };
}

export function writeReport(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw usageError(`cannot write \`${file}\` (${reasonOf(error)})`);
  }
}
