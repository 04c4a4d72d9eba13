// Text for a terminal: nothing in it may steer the screen, and its width is counted in cells.

/** Controls, line separators and bidirectional marks become a dot, one for one, so that columns stay. */
export function visible(text: string): string {
  return text.replaceAll("\t", " ").replace(UNPRINTABLE, "·");
}

/** The same for a text of several lines: line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(UNPRINTABLE, (one) => (one === "\n" || one === "\t" ? one : "·"));
}

// \p{Cc} is C0, DEL and C1: an escape sequence begins with one of them.
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Screen cells of the code points: two for East Asian wide ones and emoji, none for combining marks. */
export function cellsOf(points: readonly string[]): number {
  let cells = 0;
  for (const point of points) cells += ZERO_WIDTH.test(point) ? 0 : WIDE.test(point) ? 2 : 1;
  return cells;
}

const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const WIDE = new RegExp(
  [
    String.raw`^(?:\p{Emoji_Presentation}|`,
    String.raw`[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff]|`,
    String.raw`[\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])$`,
  ].join(""),
  "u",
);

export const cells = (text: string): number => cellsOf([...text]);

/** To at least so many cells. */
export const padded = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - cells(visible(text))));

/** On one line, in at most so many cells. */
export function shortened(text: string, width: number): string {
  const line = visible(text.replaceAll(/\s+/g, " ").trim());
  return cells(line) <= width ? line : `${clipped(line, width - 1).trimEnd()}…`;
}

/** The beginning that takes at most so many cells. */
export function clipped(text: string, width: number): string {
  let left = width;
  let end = 0;
  for (const point of text) {
    left -= cellsOf([point]);
    if (left < 0) break;
    end += point.length;
  }
  return text.slice(0, end);
}
