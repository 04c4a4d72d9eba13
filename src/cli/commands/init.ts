// `packloop init`

import { isAbsolute, relative, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Command } from "commander";
import { suggest } from "../../base/suggest.ts";
import { exits, usageError } from "../exit.ts";
import { type Template, templates } from "../init/template-list.ts";
import { writeTemplate } from "../init/write-template.ts";
import { note, write } from "../output.ts";
import { mayAsk } from "../runs/may-ask.ts";

interface Flags {
  readonly list?: true;
  readonly json?: true;
  readonly force?: true;
  readonly yes?: true;
}

/** The model named in the templates' own settings. */
const MODEL = "anthropic/claude-sonnet-5";

export function initCommand(): Command {
  return new Command()
    .description(
      "Make a folder with a pack, its settings, a script, tests and sample data. It runs at once, without a key.",
    )
    .argument("[template]", "which one; without it they are listed, or asked for on a terminal")
    .argument("[folder]", "where to; a new folder named like the template when left out")
    .option("--list", "list the templates")
    .option("--force", "overwrite files that are there")
    .option("--yes", "ask nothing; the first template when none is named")
    .option("--json", "what was made, or the list, as JSON")
    .addHelpText(
      "after",
      [
        "",
        "Templates:",
        ...templates.map(line),
        "",
        "Examples:",
        "  packloop init codegen demo && cd demo",
        "  packloop init --list --json",
        "",
        "Exit codes: 0 made or listed, 2 bad input or files in the way",
      ].join("\n"),
    )
    .action(async (name: string | undefined, folder: string | undefined, flags: Flags) => {
      process.exitCode = await init(flags, name, folder);
    });
}

async function init(flags: Flags, name?: string, folder?: string): Promise<number> {
  if (flags.list === true) return list(flags);
  const template = name === undefined ? await chosen(flags) : named(name);
  if (template === undefined) return list(flags);
  const target = folder ?? template.name;
  const { files, warnings } = await writeTemplate(template, { folder: target, force: flags.force === true });
  for (const warning of warnings) note(`warning: ${warning}`);
  const next = nextCommands(target);
  if (flags.json === true)
    write(`${JSON.stringify({ template: template.name, folder: resolve(target), files, next, warnings })}\n`);
  else write(madeText({ template, target, count: files.length, next }));
  return exits.ok;
}

function list({ json }: Flags): number {
  const shown = templates.map(({ name, summary }) => ({ name, summary }));
  if (json === true) write(`${JSON.stringify(shown)}\n`);
  else write(["Templates:", ...templates.map(line), "", "  packloop init TEMPLATE [FOLDER]", ""].join("\n"));
  return exits.ok;
}

const line = ({ name, summary }: Template): string => `  ${name.padEnd(12)}${summary}`;

function named(name: string): Template {
  const names = templates.map((template) => template.name);
  const found = templates.find((template) => template.name === name);
  if (found !== undefined) return found;
  const meant = suggest(name, names);
  const hint = meant === undefined ? `there are ${names.join(", ")}` : `did you mean \`${meant}\`?`;
  throw usageError(`\`${name}\` is not a template (${hint})`);
}

/** Undefined where nobody can be asked, or nothing was chosen. */
async function chosen({ yes, json }: Flags): Promise<Template | undefined> {
  if (yes === true) return templates[0];
  if (json === true || !mayAsk()) return undefined;
  note(["Templates:", ...templates.map((template, i) => `  ${i + 1}${line(template)}`)].join("\n"));
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const given = (await lines.question("number or name (empty: none): ")).trim();
    if (given === "") return undefined;
    return templates[Number(given) - 1] ?? named(given);
  } finally {
    lines.close();
  }
}

function nextCommands(target: string): readonly string[] {
  const path = isAbsolute(target) ? target : relative(".", target);
  const change = path === "" ? [] : [`cd ${shellWord(path)}`];
  return [
    ...change,
    "packloop check --bound",
    "packloop run --script script.yaml",
    "packloop trace @",
    "packloop test",
  ];
}

const shellWord = (text: string): string =>
  /^[\w./@%+:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

interface Made {
  readonly template: Template;
  readonly target: string;
  readonly count: number;
  readonly next: readonly string[];
}

function madeText({ template, target, count, next }: Made): string {
  return [
    `made \`${target}\` from template ${template.name} (${count} files)`,
    "",
    "Next, without a key:",
    ...next.map((command) => `  ${command}`),
    "",
    "With a real model (ANTHROPIC_API_KEY set; `model:` in packloop.yaml saves the flag):",
    `  packloop run --model ${MODEL}`,
    "",
  ].join("\n");
}
