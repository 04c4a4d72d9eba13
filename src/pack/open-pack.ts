// The library's way in: text to a program that can run, or the reasons why not. Pure, so it also works in a
// browser.

import type { Program } from "../core/program.ts";
import type { CheckConfig } from "./check/rule.ts";
import { checkText } from "./check-text.ts";
import { type Diagnostic, locate } from "./diagnostic.ts";
import type { Bound } from "./flow/bound.ts";
import { freeze } from "./freeze.ts";
import type { SchemaFile, SkillFolder } from "./link.ts";
import { LineIndex } from "./read/line-index.ts";
import { everything, selectFindings } from "./select.ts";

export interface OpenOptions {
  /** Shown in diagnostics; its ending chooses the syntax. */
  readonly file?: string;
  /** Which pack of a manifest that holds several: the key it stands under. */
  readonly embeddedAs?: string;
  readonly config?: CheckConfig;
  readonly strict?: boolean;
  /** A JSON Schema that a composition names by a path, from wherever the pack lies. */
  readonly schemaFile?: SchemaFile;
  /** Skills that the pack names by a path, likewise. */
  readonly skillFolder?: SkillFolder;
}

export type OpenedPack = GoodPack | BadPack;

export interface GoodPack {
  readonly ok: true;
  readonly program: Program;
  readonly digest: string;
  /** The worst case of every run from the workflow's entry. */
  readonly bound: Bound;
  /** Warnings and remarks. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface BadPack {
  readonly ok: false;
  readonly diagnostics: readonly Diagnostic[];
  /** For callers who only want to stop: the errors as one message. */
  toError(): PackError;
}

export class PackError extends Error {
  override readonly name = "PackError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((one) => one.severity === "error");
    super(
      errors.map((one) => `${one.file}:${one.line}:${one.column}: ${one.code}: ${one.message}`).join("\n"),
    );
    this.diagnostics = diagnostics;
  }
}

export function openPack(text: string, options: OpenOptions = {}): OpenedPack {
  const file = options.file ?? "pack.yaml";
  const { config, strict, schemaFile, skillFolder } = options;
  const checked = checkText(text, {
    file,
    ...(config && { config }),
    ...(strict !== undefined && { strict }),
    ...(schemaFile !== undefined && { schemaFile }),
    ...(skillFolder !== undefined && { skillFolder }),
  });
  const lines = new LineIndex(text);
  const diagnostics = selectFindings(checked.findings, everything).map((finding) =>
    locate(finding, file, lines),
  );
  const pack = checked.packs.find(
    (one) => options.embeddedAs === undefined || one.embeddedAs === options.embeddedAs,
  );
  const bound = pack?.bounds[0];
  const failed = diagnostics.some((one) => one.severity === "error");
  if (failed || pack === undefined || bound === undefined) {
    return { ok: false, diagnostics, toError: () => new PackError(diagnostics) };
  }
  return { ok: true, program: freeze(pack.program), digest: pack.digest, bound, diagnostics };
}
