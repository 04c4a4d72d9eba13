// A terminal as far as packloop writes to one: what is on the screen after some bytes, and whether the cursor
// shows. Anything it does not know is an error, so nothing unexpected is ever sent.

export interface TerminalSize {
  readonly columns: number;
}

export class Terminal {
  readonly #columns: number;
  readonly #rows: string[][] = [[]];
  #row = 0;
  #column = 0;
  #wraps = true;
  cursorShows = true;

  constructor({ columns }: TerminalSize) {
    this.#columns = columns;
  }

  write(text: string): this {
    const tokens = text.matchAll(/(?![\r\n])\p{Cc}\[(\??)(\d*)([A-Za-z])|\p{Cc}|\P{Cc}/gu);
    for (const [token, mark, number, letter] of tokens) {
      if (letter !== undefined) this.#control(`${mark ?? ""}${letter}`, number ?? "");
      else if (token === "\r") this.#column = 0;
      else if (token === "\n") this.#newLine();
      else if (token === "\x1b") throw new Error("an escape that is none of ours");
      else this.#put(token);
    }
    return this;
  }

  /** Lines from the top of the scroll-back, without spaces at their ends and empty lines at the end. */
  lines(): readonly string[] {
    const lines = this.#rows.map((row) =>
      [...row]
        .map((cell) => cell ?? " ")
        .join("")
        .trimEnd(),
    );
    return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
  }

  #put(char: string): void {
    if (/\p{Mn}|\p{Cc}/u.test(char)) throw new Error(`not expected on a terminal: ${JSON.stringify(char)}`);
    const cells = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(char)
      ? 2
      : 1;
    if (this.#column + cells > this.#columns) {
      if (!this.#wraps) return;
      this.#newLine();
    }
    const row = this.#rows[this.#row] as string[];
    row[this.#column] = char;
    if (cells === 2) row[this.#column + 1] = "";
    this.#column += cells;
  }

  #newLine(): void {
    this.#row++;
    this.#column = 0;
    if (this.#rows.length <= this.#row) this.#rows.push([]);
  }

  #control(what: string, number: string): void {
    const row = this.#rows[this.#row] as string[];
    if (what === "A") this.#row = Math.max(0, this.#row - Number(number || 1));
    else if (what === "G") this.#column = Number(number || 1) - 1;
    else if (what === "K" && Number(number) === 0) row.length = Math.min(row.length, this.#column);
    else if (what === "J" && Number(number) === 0) {
      row.length = Math.min(row.length, this.#column);
      this.#rows.length = this.#row + 1;
    } else if (what === "?h" || what === "?l") this.#mode(Number(number), what === "?h");
    else if (what !== "m") throw new Error(`not expected on a terminal: ${number}${what}`);
  }

  #mode(number: number, on: boolean): void {
    if (number === 25) this.cursorShows = on;
    else if (number === 7) this.#wraps = on;
    // Pasted text is bracketed while a line is edited.
    else if (number !== 2004) throw new Error(`not expected on a terminal: mode ${number}`);
  }
}
