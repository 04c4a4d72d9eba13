// Patterns for paths: `*`, `?`, `[a-z]`, `{a,b}` within a name and `**` for any number of folders. Matched by
// tables, so the time is bounded by pattern times path whatever the pattern is.

import { ToolProblem } from "../tool-problem.ts";

export type PathTest = (names: readonly string[]) => boolean;

const LENGTH_MAX = 1000;
const CHOICES_MAX = 100;

/** A pattern without a slash is tried on the last name, as people expect of `*.ts`. */
export function globPattern(pattern: string): PathTest {
  if (pattern.length > LENGTH_MAX)
    throw new ToolProblem("bad_arguments", `the pattern has more than ${LENGTH_MAX} characters`);
  const plain = pattern.replace(/^(\.\/)+/, "");
  const choices = choicesOf(plain);
  const tests = choices.map((choice) => {
    const parts = choice.split("/").filter((part) => part !== "");
    return choice.includes("/") ? parts : ["**", ...parts];
  });
  const compiled = tests.map((parts) => parts.map((part) => (part === "**" ? null : tokensOf(part))));
  return (names) => compiled.some((parts) => pathMatches(parts, names));
}

/** Expands `{a,b}`, also nested. */
function choicesOf(pattern: string): readonly string[] {
  const waiting = [pattern];
  const done: string[] = [];
  while (waiting.length > 0) {
    if (waiting.length + done.length > CHOICES_MAX)
      throw new ToolProblem("bad_arguments", `the pattern has more than ${CHOICES_MAX} alternatives`);
    const text = waiting.pop() as string;
    // The innermost braces have no others in them.
    const braces = /\{([^{}]*)\}/.exec(text);
    if (braces === null) done.push(text);
    else {
      const rest = text.slice(braces.index + braces[0].length);
      for (const choice of (braces[1] as string).split(","))
        waiting.push(text.slice(0, braces.index) + choice + rest);
    }
  }
  return done;
}

/** One character each, or `*`. */
type Token = "*" | ((character: string) => boolean);

function tokensOf(part: string): readonly Token[] {
  const tokens: Token[] = [];
  const characters = [...part];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    const end = character === "[" ? characters.indexOf("]", at + 2) : -1;
    if (character === "*") {
      if (tokens.at(-1) !== "*") tokens.push("*");
    } else if (character === "?") tokens.push(() => true);
    else if (end === -1) tokens.push((other) => other === character);
    else {
      tokens.push(setOf(characters.slice(at + 1, end)));
      at = end;
    }
  }
  return tokens;
}

function setOf(characters: readonly string[]): (character: string) => boolean {
  const negated = characters[0] === "!" || characters[0] === "^";
  const list = negated ? characters.slice(1) : characters;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < list.length; at++) {
    const first = list[at] as string;
    const isRange = list[at + 1] === "-" && at + 2 < list.length;
    ranges.push([first, isRange ? (list[at + 2] as string) : first]);
    if (isRange) at += 2;
  }
  return (character) => ranges.some(([first, last]) => character >= first && character <= last) !== negated;
}

/** Null stands for any number of names. */
function pathMatches(parts: readonly (readonly Token[] | null)[], names: readonly string[]): boolean {
  return tableMatches(parts.length, names.length, {
    isAny: (part) => parts[part] === null,
    fits: (part, name) => nameMatches(parts[part] as readonly Token[], names[name] as string),
  });
}

function nameMatches(tokens: readonly Token[], name: string): boolean {
  const characters = [...name];
  return tableMatches(tokens.length, characters.length, {
    isAny: (token) => tokens[token] === "*",
    fits: (token, at) => (tokens[token] as Exclude<Token, "*">)(characters[at] as string),
  });
}

interface Fit {
  readonly isAny: (pattern: number) => boolean;
  readonly fits: (pattern: number, item: number) => boolean;
}

/** Row by row: `reached[i]` says that the patterns so far match the first `i` items. */
function tableMatches(patterns: number, items: number, { isAny, fits }: Fit): boolean {
  let reached = [true, ...Array.from({ length: items }, () => false)];
  for (let pattern = 0; pattern < patterns; pattern++) {
    const next = [isAny(pattern) && reached[0] === true];
    for (let item = 0; item < items; item++) {
      next.push(
        isAny(pattern)
          ? next[item] === true || reached[item + 1] === true
          : reached[item] === true && fits(pattern, item),
      );
    }
    reached = next;
  }
  return reached[items] === true;
}
