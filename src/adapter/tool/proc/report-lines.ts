// What a report of tests is, and small readers the reports share: numbers before words, places in files.

export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Report extends Counts {
  readonly failures: readonly Failure[];
}

/** Undefined when the lines are not of that runner. */
export type ReadReport = (lines: readonly string[]) => Report | undefined;

/** The number before one of the words, `3 failed`, summed up over the words; 0 when none is there. */
export function countOf(text: string, ...words: readonly string[]): number {
  let sum = 0;
  for (const [, number, word] of text.matchAll(/(\d{1,9}) ([A-Za-z]+)/g))
    if (words.includes(word as string)) sum += Number(number);
  return sum;
}

const PLACE =
  /^(?:.*[\s(])?((?:file:\/\/)?[^\s()"'<>]+\.[A-Za-z]{1,5}):(\d{1,9})(?::\d{1,9})?\)?:?(?:\s.*)?$/;

/** The first place in a file of the project: not of the language's own code or of packages. */
export function placeIn(lines: readonly string[]): Pick<Failure, "file" | "line"> {
  for (const line of lines) {
    const match = PLACE.exec(line.slice(0, 1000));
    const file = match?.[1];
    if (file === undefined || /^node:|node_modules\/|site-packages\/|\/rustc\//.test(file)) continue;
    return { file, line: Number(match?.[2]) };
  }
  return {};
}

/** No failure says more; without a bound a head without an end would take all lines, again and again. */
const PIECE_MAX = 200;

/** Lines from `from` up to the first that ends the piece. */
export function until(
  lines: readonly string[],
  from: number,
  ends: (line: string) => boolean,
): readonly string[] {
  let end = from;
  while (end < Math.min(lines.length, from + PIECE_MAX) && !ends(lines[end] as string)) end++;
  return lines.slice(from, end);
}

/** What a failure says: its lines without the stack, as many as are of use. */
export function messageOf(lines: readonly string[]): string {
  const end = lines.findIndex((line) => /^\s+at\s|^\s*❯\s|^stack backtrace:/.test(line));
  const kept = (end === -1 ? lines : lines.slice(0, end))
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return kept.slice(0, 12).join("\n");
}
