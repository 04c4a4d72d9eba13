// `packloop completion SHELL`: made from the commands themselves, so it cannot fall behind them.

import { Argument, Command } from "commander";
import { commandNames, loadCommand } from "../command-table.ts";
import { write } from "../output.ts";

interface Described {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
}

export function completionCommand(): Command {
  return new Command()
    .description("Print a completion script for a shell.")
    .addArgument(new Argument("<shell>", "which shell").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      "\nExamples:\n  packloop completion bash > ~/.local/share/bash-completion/completions/packloop\n  packloop completion fish | source",
    )
    .action(async (shell: "bash" | "zsh" | "fish") => {
      const described = await describeAll();
      const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
      write(scripts[shell](described));
    });
}

async function describeAll(): Promise<readonly Described[]> {
  const all: Described[] = [];
  for (const name of commandNames) {
    const command = await loadCommand(name);
    if (command === undefined) continue;
    const flags = command.options.flatMap((option) =>
      option.long === undefined || option.long === null ? [] : [option.long],
    );
    all.push({ name, summary: command.description().split(". ")[0] ?? "", flags: [...flags, "--help"] });
  }
  return all;
}

function bashScript(commands: readonly Described[]): string {
  const cases = commands.map(({ name, flags }) => `    ${name}) words="${flags.join(" ")}" ;;`);
  return [
    "# packloop completion for bash",
    "_packloop() {",
    '  local current="${COMP_WORDS[COMP_CWORD]}" words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$current"))`,
    "    return",
    "  fi",
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    "  esac",
    '  case "$current" in',
    '    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;',
    '    *) COMPREPLY=($(compgen -f -- "$current")) ;;',
    "  esac",
    "}",
    "complete -o filenames -F _packloop packloop",
    "",
  ].join("\n");
}

function zshScript(commands: readonly Described[]): string {
  const names = commands.map(
    ({ name, summary }) => `    '${name}:${summary.replaceAll("'", "'\\''").replaceAll(":", " -")}'`,
  );
  const cases = commands.map(({ name, flags }) => `    ${name}) compadd -- ${flags.join(" ")}; _files ;;`);
  return [
    "#compdef packloop",
    "_packloop() {",
    "  local -a commands",
    "  commands=(",
    ...names,
    "  )",
    "  if (( CURRENT == 2 )); then _describe command commands; return; fi",
    '  case "${words[2]}" in',
    ...cases,
    "  esac",
    "}",
    '[ "$funcstack[1]" = "_packloop" ] && _packloop "$@" || compdef _packloop packloop',
    "",
  ].join("\n");
}

function fishScript(commands: readonly Described[]): string {
  const quote = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = ["# packloop completion for fish"];
  for (const { name, summary, flags } of commands) {
    lines.push(`complete -c packloop -n __fish_use_subcommand -f -a ${name} -d ${quote(summary)}`);
    for (const flag of flags) {
      lines.push(`complete -c packloop -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
