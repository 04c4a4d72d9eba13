// `packloop version`

import { Command } from "commander";
import { write } from "../output.ts";
import { packageVersion } from "../package-version.ts";

export function versionCommand(): Command {
  return new Command()
    .description("Print the version of packloop, of the pack format it knows and of Node.")
    .option("--json", "print as JSON")
    .addHelpText("after", "\nExamples:\n  packloop version\n  packloop version --json")
    .action((options: { json?: true }) => {
      const versions = { packloop: packageVersion(), promptpack: "1.9", node: process.versions.node };
      if (options.json) return write(`${JSON.stringify(versions)}\n`);
      return write(
        `packloop ${versions.packloop} (PromptPack ${versions.promptpack}, Node ${versions.node})\n`,
      );
    });
}
