// `packloop check`

import { Command, InvalidArgumentError, Option } from "commander";
import { isKnownCode } from "../../pack/select.ts";
import { type CheckFilesOptions, checkSubject, type Subject, subjectsOf } from "../check-files.ts";
import { exits, usageError } from "../exit.ts";
import { findPacks } from "../find-packs.ts";
import { fixSubjects } from "../fix-files.ts";
import { certificatesText } from "../format/certificates.ts";
import { type CheckReport, type FileReport, reportOf } from "../format/check-report.ts";
import { type FormatName, formatNames, formats } from "../format/formats.ts";
import { type ColorChoice, useColor, write } from "../output.ts";
import { packageVersion } from "../package-version.ts";
import { addTarget, type ReportTarget, writeReport } from "../report-target.ts";
import { watchAndRun } from "../watch-files.ts";

interface Flags {
  readonly format: readonly Target[];
  readonly json?: true;
  readonly bound?: true;
  readonly certificate?: string;
  readonly fix?: true;
  readonly unsafeFixes?: true;
  readonly diff?: true;
  readonly select: readonly string[];
  readonly ignore: readonly string[];
  readonly strict?: true;
  readonly quiet?: true;
  readonly maxWarnings?: number;
  readonly exitZero?: true;
  readonly limit?: number;
  readonly config?: string;
  readonly stdinFilename: string;
  readonly watch?: true;
  readonly color: ColorChoice;
}

type Target = ReportTarget<FormatName>;

export function checkCommand(): Command {
  return new Command()
    .description(
      "Check packs: positions, codes, fixes, and a proof of whether and how soon every run must end.",
    )
    .argument(
      "[files...]",
      "files, folders, globs, or - for standard input; the folder you are in when left out",
    )
    .option(
      "--format <name[=file]>",
      `${formatNames.join(", ")}; may be given several times`,
      addTarget(formatNames),
      [],
    )
    .option("--json", "the same as --format json")
    .option("--bound", "show the worst case of every run")
    .option("--certificate <file>", "write the termination certificates as JSON (- for stdout)")
    .option("--fix", "apply safe fixes")
    .option("--unsafe-fixes", "apply all fixes, also those that change what the pack does")
    .option("--diff", "print what --fix would change, and write nothing")
    .option("--select <codes>", "show only these codes or prefixes (errors are always shown)", addCodes, [])
    .option("--ignore <codes>", "hide these codes or prefixes (errors are always shown)", addCodes, [])
    .option("--strict", "take some findings one step more seriously")
    .option("--quiet", "hide remarks of severity info")
    .option("--max-warnings <n>", "fail when there are more warnings", wholeNumber)
    .option("--exit-zero", "exit 0 also with findings")
    .option("--limit <n>", "configurations explored per entry point (1000000)", wholeNumber)
    .option("--config <file>", "packloop.yaml to use instead of the one beside the pack")
    .option("--stdin-filename <name>", "name of what comes by standard input", "stdin")
    .option("--watch", "check again whenever a file changes")
    .addOption(new Option("--color <when>", "colour").choices(["auto", "always", "never"]).default("auto"))
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  packloop check codegen.pack.yaml --bound",
        "  packloop check packs/ --format pretty --format sarif=check.sarif",
        "  cat pack.json | packloop check - --stdin-filename pack.json --json",
        "",
        "Exit codes: 0 no errors, 1 errors or too many warnings, 2 unusable arguments or files, 3 a defect of packloop",
      ].join("\n"),
    )
    .action(async (files: string[], flags: Flags) => {
      if (flags.watch === true) return watchAndRun(files, () => runCheck(files, flags));
      process.exitCode = runCheck(files, flags);
      return undefined;
    });
}

/** One check of all files; the exit code. */
function runCheck(files: readonly string[], flags: Flags): number {
  const options = optionsOf(flags);
  let subjects = subjectsOf(findPacks(files), options);
  if (flags.fix === true || flags.unsafeFixes === true || flags.diff === true) {
    const fixed = fixSubjects(subjects, { unsafe: flags.unsafeFixes === true, diff: flags.diff === true });
    if (flags.diff === true) return fixed.changed === 0 ? exits.ok : exitZero(flags, exits.findings);
    subjects = fixed.subjects;
  }
  const report = reportOf(subjects.map((subject) => checkSubject(subject, options.quiet)));
  print(report, flags, subjects);
  const tooMany = flags.maxWarnings !== undefined && report.warnings > flags.maxWarnings;
  return exitZero(flags, report.errors > 0 || tooMany ? exits.findings : exits.ok);
}

const exitZero = (flags: Flags, code: number): number =>
  flags.exitZero === true && code === exits.findings ? exits.ok : code;

function optionsOf(flags: Flags): CheckFilesOptions {
  return {
    select: flags.select,
    ignore: flags.ignore,
    strict: flags.strict === true,
    bound: flags.bound === true,
    quiet: flags.quiet === true,
    limit: flags.limit,
    config: flags.config,
    stdinFilename: flags.stdinFilename,
  };
}

function print(report: CheckReport, flags: Flags, subjects: readonly Subject[]): void {
  const json: readonly Target[] = flags.json === true ? [{ format: "json", file: undefined }] : [];
  const targets = [...json, ...flags.format];
  const shown: readonly Target[] = targets.length === 0 ? [{ format: "pretty", file: undefined }] : targets;
  const stdinFixed =
    subjects.some((subject) => subject.path === "-") && (flags.fix === true || flags.unsafeFixes === true);
  for (const { format, file } of shown) {
    const color = file === undefined && format === "pretty" && useColor(flags.color);
    const text = formats[format](report, { color, bound: flags.bound === true, version: packageVersion() });
    // The mended text of standard input went to stdout; findings must not mix with it.
    if (file !== undefined) writeReport(file, text);
    else if (stdinFixed) process.stderr.write(text);
    else write(text);
  }
  if (flags.certificate !== undefined) writeCertificates(flags.certificate, report.files);
}

function writeCertificates(file: string, files: readonly FileReport[]): void {
  const text = certificatesText(files);
  if (file === "-") write(text);
  else writeReport(file, text);
}

function addCodes(value: string, before: readonly string[]): readonly string[] {
  const codes = value.split(",").map((code) => code.trim().toUpperCase());
  const wrong = codes.find((code) => !isKnownCode(code));
  if (wrong !== undefined)
    throw usageError(`\`${wrong}\` is not a code or prefix (see packloop explain --list)`);
  return [...before, ...codes];
}

function wholeNumber(value: string): number {
  if (!/^\d{1,12}$/.test(value)) throw new InvalidArgumentError(`\`${value}\` is not a whole number`);
  return Number(value);
}
