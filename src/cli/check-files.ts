// Checks files and gathers what every format prints.

import { type CheckOptions, checkText } from "../pack/check-text.ts";
import type { Diagnostic, Finding } from "../pack/diagnostic.ts";
import { locate } from "../pack/diagnostic.ts";
import { LineIndex } from "../pack/read/line-index.ts";
import { isSelected, type Selection, selectFindings } from "../pack/select.ts";
import { type Config, checkConfigOf, configFor, ignoresFor } from "./config.ts";
import type { FileReport } from "./format/check-report.ts";
import { type ReadText, readPackText, readStdin } from "./read-file.ts";
import { schemaBeside } from "./schema-beside.ts";
import { skillsBeside } from "./skills-beside.ts";

export interface CheckFilesOptions {
  readonly select: readonly string[];
  readonly ignore: readonly string[];
  readonly strict: boolean;
  readonly bound: boolean;
  readonly quiet: boolean;
  readonly limit: number | undefined;
  readonly config: string | undefined;
  readonly stdinFilename: string;
}

/** One file with all that is needed to check it again after a fix. */
export interface Subject {
  readonly file: string;
  readonly path: string;
  readonly read: ReadText;
  readonly options: CheckOptions;
  readonly selection: Selection;
}

export function subjectsOf(files: readonly string[], options: CheckFilesOptions): readonly Subject[] {
  const cache = new Map<string, Config>();
  return files.map((path) => {
    const stdin = path === "-";
    const file = stdin ? options.stdinFilename : path;
    const config = configFor(file, options.config, cache);
    const selection: Selection = {
      select: options.select,
      ignore: options.ignore,
      severities: config.severities,
      ignores: ignoresFor(config, file),
    };
    const checkOptions: CheckOptions = {
      file,
      config: { ...checkConfigOf(config, file), bound: options.bound },
      strict: options.strict,
      isEnabled: (code) => isSelected(code, selection),
      schemaFile: schemaBeside(path),
      skillFolder: skillsBeside(path),
      ...(options.limit !== undefined && { limit: options.limit }),
    };
    return { file, path, read: stdin ? readStdin() : readPackText(path), options: checkOptions, selection };
  });
}

export function checkSubject({ file, read, options, selection }: Subject, quiet: boolean): FileReport {
  const lines = new LineIndex(read.text);
  const shown = (findings: readonly Finding[]): readonly Diagnostic[] =>
    selectFindings(findings, selection)
      .filter((finding) => !quiet || finding.severity !== "info")
      .map((finding) => locate(finding, file, lines));
  if (!read.ok) return { file, lines, diagnostics: shown([read.finding]), packs: [] };
  const { findings, packs } = checkText(read.text, options);
  return { file, lines, diagnostics: shown(findings), packs };
}
