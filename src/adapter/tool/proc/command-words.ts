// A command line as a model writes it, taken apart into words. Quotes and backslashes work as in a shell;
// whatever would need a shell is refused, because there is none and the words would mean something else.

import { ToolProblem } from "../tool-problem.ts";

const NEEDS_SHELL = /[;|&<>()$`*?[\]{}\n\r!#~]/;

export function commandWords(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at++) {
    const character = line[at] as string;
    const add = (text: string): void => {
      word = (word ?? "") + text;
    };
    if (quote === "'" && character !== "'") add(character);
    else if (quote !== "" && character === quote) quote = "";
    else if (quote === "" && (character === "'" || character === '"')) {
      quote = character;
      add("");
    } else if (character === "\\" && at + 1 < line.length) add(line[++at] as string);
    else if (quote === '"' ? /[$`]/.test(character) : NEEDS_SHELL.test(character)) throw noShell(character);
    else if (quote === "" && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else add(character);
  }
  if (quote !== "") throw new ToolProblem("bad_arguments", "the command has a quote that is not closed");
  return word === undefined ? words : [...words, word];
}

const noShell = (character: string): ToolProblem =>
  new ToolProblem(
    "not_allowed",
    `\`${JSON.stringify(character).slice(1, -1)}\` needs a shell, and there is none (give one command at a time)`,
  );
