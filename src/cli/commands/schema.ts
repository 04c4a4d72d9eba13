// `packloop schema`

import { readFileSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { write } from "../output.ts";
import { packageFile } from "../package-version.ts";

export function schemaCommand(): Command {
  return new Command()
    .description(
      "Print the JSON Schema of PromptPack files as packloop reads them. Editors use it to complete and explain.",
    )
    .option("--out <file>", "write to a file")
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  packloop schema --out promptpack.schema.json",
        "  packloop schema | jq '.$defs.WorkflowState.properties | keys'",
        "",
        "In a YAML pack, the first line tells the editor:",
        "  # yaml-language-server: $schema=promptpack.schema.json",
      ].join("\n"),
    )
    .action((options: { out?: string }) => {
      const text = readFileSync(packageFile("schema/promptpack.schema.json"), "utf8");
      if (options.out === undefined) write(text);
      else writeFileSync(options.out, text);
    });
}
