// What one `packloop check` found, as every format receives it. Formats print this and compute nothing.

import type { CheckedPack } from "../../pack/check-text.ts";
import type { Diagnostic } from "../../pack/diagnostic.ts";
import type { LineIndex } from "../../pack/read/line-index.ts";

export interface CheckReport {
  /** In the order the files were given. */
  readonly files: readonly FileReport[];
  readonly errors: number;
  readonly warnings: number;
  readonly infos: number;
  /** Findings that `--fix` would mend (safe fixes only). */
  readonly fixable: number;
}

export interface FileReport {
  readonly file: string;
  readonly lines: LineIndex;
  /** Ordered by position, then code. */
  readonly diagnostics: readonly Diagnostic[];
  readonly packs: readonly CheckedPack[];
}

export interface FormatOptions {
  readonly color: boolean;
  /** Show the termination certificate. */
  readonly bound: boolean;
  readonly version: string;
}

/** The whole output, line end included; empty when there is nothing to say. */
export type Format = (report: CheckReport, options: FormatOptions) => string;

export function reportOf(files: readonly FileReport[]): CheckReport {
  const all = files.flatMap((file) => file.diagnostics);
  const count = (severity: string) => all.filter((one) => one.severity === severity).length;
  return {
    files,
    errors: count("error"),
    warnings: count("warning"),
    infos: count("info"),
    fixable: all.filter((one) => one.fix?.applicability === "safe").length,
  };
}
