// `packloop config`: the settings in force here, and where each of them comes from.

import { Command } from "commander";
import { effectiveSettings, type LayerFlags, type Origin, type Setting } from "../effective-settings.ts";
import { settingsPlace } from "../one-pack.ts";
import { note, write, writeText } from "../output.ts";

interface Flags extends LayerFlags {
  readonly showOrigin?: true;
  readonly json?: true;
}

export function configCommand(): Command {
  return new Command()
    .description(
      "Show the settings in force for a pack or a folder: of flags, else of the environment, else of packloop.yaml, else the defaults. Secrets are never shown. See docs/configuration.md.",
    )
    .argument("[pack]", "a pack or a folder; this folder when left out")
    .option("--show-origin", "say which layer set each value, and where")
    .option("--config <file>", "settings in place of the packloop.yaml beside the pack")
    .option("--model <name>", "the model, as of the other commands")
    .option("--store <path>", "where runs are kept, as of the other commands")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop config\n  packloop config codegen.pack.yaml --show-origin --json\n\nExit codes: 0 shown, 2 bad input or mistakes in the file",
    )
    .action((pack: string | undefined, flags: Flags) => {
      const { file, settings, unused } = effectiveSettings(settingsPlace(pack), flags, process.env);
      const withOrigin = flags.showOrigin === true;
      for (const name of unused)
        note(`warning: \`${name}\` in \`${file}\` is accepted, and nothing reads it`);
      if (flags.json !== true) return writeText(text(settings, withOrigin));
      const rows = withOrigin ? settings : settings.map(({ name, value }) => ({ name, value }));
      return write(`${JSON.stringify({ file, settings: rows }, null, 2)}\n`);
    });
}

/** Values as JSON, one line each, so that a line can be cut apart again. */
function text(settings: readonly Setting[], withOrigin: boolean): string {
  const origins = settings.map(({ origin }) => (withOrigin ? originText(origin) : ""));
  const width = Math.max(...origins.map(({ length }) => length));
  const margin = (origin: string) => (withOrigin ? `${origin.padEnd(width)}  ` : "");
  const lines = settings.map(
    ({ name, value }, index) => `${margin(origins[index] ?? "")}${name} = ${JSON.stringify(value)}\n`,
  );
  return lines.join("");
}

const originText = ({ layer, place }: Origin): string => (place === null ? layer : `${layer} ${place}`);
