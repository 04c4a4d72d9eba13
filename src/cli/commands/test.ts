// `packloop test`

import { Command, InvalidArgumentError, Option } from "commander";
import { ExitError, exits, usageError } from "../exit.ts";
import { type ColorChoice, useColor, write } from "../output.ts";
import { addTarget, type ReportTarget, writeReport } from "../report-target.ts";
import { Mistakes } from "../testing/document.ts";
import { findTests } from "../testing/find-tests.ts";
import { jsonTests } from "../testing/json-tests.ts";
import { junitTests } from "../testing/junit-tests.ts";
import { prettyTests } from "../testing/pretty-tests.ts";
import { readTests } from "../testing/read-tests.ts";
import { openPacks, runTests } from "../testing/run-tests.ts";
import { type TestFormat, type TestReport, titleOf, totalsOf } from "../testing/test-result.ts";

const formatNames = ["pretty", "json", "junit"] as const;

type FormatName = (typeof formatNames)[number];

const formats: Readonly<Record<FormatName, TestFormat>> = {
  pretty: prettyTests,
  json: jsonTests,
  junit: junitTests,
};

interface Flags {
  readonly format: readonly ReportTarget<FormatName>[];
  readonly json?: true;
  readonly filter?: string;
  readonly jobs: number;
  readonly pack?: string;
  readonly mock?: string;
  readonly color: ColorChoice;
}

const JOBS = 4;

export function testCommand(): Command {
  return new Command()
    .description(
      "Test packs: play runs from a script, a cassette or a mock file, and compare what comes out.",
    )
    .argument("[files...]", "files, folders or globs; in folders the files *.test.yaml are taken")
    .option(
      "--format <name[=file]>",
      `${formatNames.join(", ")}; may be given several times`,
      addTarget(formatNames),
      [],
    )
    .option("--json", "the same as --format json")
    .option("--filter <text>", "only tests whose file or name holds this text")
    .option("--jobs <n>", `how many tests run at the same time (${JOBS})`, positive, JOBS)
    .option("--pack <file>", "the pack of Scenario files")
    .option("--mock <file>", "the mock responses of Scenario files")
    .addOption(new Option("--color <when>", "colour").choices(["auto", "always", "never"]).default("auto"))
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  packloop test examples",
        "  packloop test codegen.test.yaml --filter 'gives up'",
        "  packloop test --format pretty --format junit=tests.xml",
        "  packloop test scenarios/*.yaml --pack research.pack.yaml --mock mock-responses.yaml",
        "",
        "Exit codes: 0 all passed, 1 some failed, 2 unusable arguments or files (then nothing runs)",
      ].join("\n"),
    )
    .action(async (files: string[], flags: Flags) => {
      process.exitCode = await test(files, flags);
    });
}

async function test(files: readonly string[], flags: Flags): Promise<number> {
  const began = performance.now();
  const mistakes = new Mistakes();
  const all = readTests(findTests(files), flags, mistakes);
  const packs = openPacks(all, mistakes);
  if (mistakes.lines.length > 0) throw new ExitError(mistakes.lines.join("\nerror: "), exits.usage);
  const wanted = flags.filter?.toLowerCase();
  const chosen = all.filter(
    (one) => wanted === undefined || titleOf({ test: one }).toLowerCase().includes(wanted),
  );
  if (chosen.length === 0) throw usageError(`no test holds \`${flags.filter ?? ""}\` in its file or name`);
  const results = await runTests(chosen, { packs, jobs: flags.jobs });
  const report = { results, totals: totalsOf(results, Math.round(performance.now() - began)) };
  print(report, flags);
  return report.totals.failed > 0 ? exits.findings : exits.ok;
}

function print(report: TestReport, flags: Flags): void {
  const json = flags.json === true ? [{ format: "json", file: undefined } as const] : [];
  const given = [...json, ...flags.format];
  const targets = given.length === 0 ? [{ format: "pretty", file: undefined } as const] : given;
  for (const { format, file } of targets) {
    const color = file === undefined && format === "pretty" && useColor(flags.color);
    const text = formats[format](report, { color });
    if (file === undefined) write(text);
    else writeReport(file, text);
  }
}

function positive(value: string): number {
  if (!/^[1-9]\d{0,2}$/.test(value))
    throw new InvalidArgumentError(`\`${value}\` is not a number from 1 to 999`);
  return Number(value);
}
