// A pack for a command that needs it right: reads, checks, and stops with the errors when there are any.

import type { Program } from "../core/program.ts";
import { locate } from "../pack/diagnostic.ts";
import { openPack } from "../pack/open-pack.ts";
import { LineIndex } from "../pack/read/line-index.ts";
import { ExitError, exits } from "./exit.ts";
import { diagnosticText } from "./format/pretty.ts";
import { note } from "./output.ts";
import { readPackText, readStdin } from "./read-file.ts";
import { schemaBeside } from "./schema-beside.ts";
import { skillsBeside } from "./skills-beside.ts";

export interface LoadedPack {
  readonly program: Program;
  readonly digest: string;
  readonly text: string;
}

export async function loadProgram(path: string): Promise<LoadedPack> {
  const file = path === "-" ? "stdin" : path;
  const read = path === "-" ? readStdin() : readPackText(path);
  const lines = new LineIndex(read.text);
  if (!read.ok) {
    note(diagnosticText(locate(read.finding, file, lines), { lines }));
    throw new ExitError(`\`${file}\` cannot be read`, exits.usage);
  }
  const pack = openPack(read.text, { file, schemaFile: schemaBeside(path), skillFolder: skillsBeside(path) });
  if (pack.ok) return { program: pack.program, digest: pack.digest, text: read.text };
  const errors = pack.diagnostics.filter((one) => one.severity === "error");
  for (const error of errors) note(diagnosticText(error, { lines }));
  throw new ExitError(`\`${file}\` has errors (see packloop check)`, exits.usage);
}
