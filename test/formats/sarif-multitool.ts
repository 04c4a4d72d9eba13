// The validator of SARIF's authors: its program and the schema it carries, in the package of this platform.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const program = createRequire(import.meta.url)("@microsoft/sarif-multitool") as string;

export const sarifSchema = (): object =>
  JSON.parse(readFileSync(join(dirname(program), "sarif-2.1.0.json"), "utf8")) as object;

interface ValidatorLog {
  readonly runs: readonly {
    readonly results: readonly {
      readonly ruleId: string;
      readonly level?: string;
      readonly message: { readonly id: string };
    }[];
  }[];
}

/** Errors and warnings by the rules for SARIF and for GitHub's code scanning, as `level rule: message`. */
export function validatorFindings(sarif: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "packloop-sarif-"));
  try {
    const input = join(folder, "report.sarif");
    const output = join(folder, "findings.sarif");
    writeFileSync(input, sarif);
    const args = [
      "validate",
      input,
      "--output",
      output,
      "--level",
      "Error;Warning",
      "--rule-kind",
      "Sarif;Ghas",
    ];
    const { status, stdout } = spawnSync(program, args, { encoding: "utf8", timeout: 50_000 });
    if (status !== 0) throw new Error(`the validator ended with ${status}: ${stdout}`);
    const log = JSON.parse(readFileSync(output, "utf8").replace(/^\ufeff/, "")) as ValidatorLog;
    return log.runs.flatMap((run) =>
      run.results.map(({ level, ruleId, message }) => `${level ?? "warning"} ${ruleId}: ${message.id}`),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
