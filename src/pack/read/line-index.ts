// Offsets to lines and columns. Columns count code points, so an emoji before a mistake moves it by one.
// A byte order mark has no width, as in editors.

export interface Position {
  readonly line: number;
  readonly column: number;
}

const BYTE_ORDER_MARK = "\ufeff";

export class LineIndex {
  readonly text: string;
  readonly #starts: readonly number[];
  /** Offsets of the second halves of surrogate pairs. A line may hold megabytes; none is counted out. */
  readonly #halves: readonly number[];

  constructor(text: string) {
    this.text = text;
    const starts = [text.startsWith(BYTE_ORDER_MARK) ? 1 : 0];
    for (let i = text.indexOf("\n"); i !== -1; i = text.indexOf("\n", i + 1)) starts.push(i + 1);
    this.#starts = starts;
    this.#halves = Array.from(text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g), (pair) => pair.index + 1);
  }

  get lineCount(): number {
    return this.#starts.length;
  }

  /** 1-based. An offset beyond the text is its end. */
  position(offset: number): Position {
    const at = Math.max(0, Math.min(offset, this.text.length));
    const line = Math.max(0, countUpTo(this.#starts, at) - 1);
    const start = this.#starts[line] as number;
    const pairs = countUpTo(this.#halves, at - 1) - countUpTo(this.#halves, start - 1);
    return { line: line + 1, column: Math.max(1, at - start - pairs + 1) };
  }

  /** The text of a 1-based line without its line end. */
  lineText(line: number): string {
    const start = this.#starts[line - 1] ?? this.text.length;
    const end = this.#starts[line] ?? this.text.length + 1;
    return this.text.slice(start, end - 1).replace(/\r$/, "");
  }

  lineStart(line: number): number {
    return this.#starts[line - 1] ?? this.text.length;
  }
}

/** How many of the ascending offsets are at most `limit`. */
export function countUpTo(offsets: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
