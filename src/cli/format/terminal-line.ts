// One line of a terminal made of pieces: made visible, cut to the width by screen cells, then coloured.

import { cells, clipped, visible } from "../../base/screen-text.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export interface Piece {
  readonly text: string;
  readonly style?: Style;
}

export interface LineOptions {
  /** Cells the line may take. */
  readonly width: number;
  readonly color: boolean;
}

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/** No line end. What does not fit is cut, and the last cell says so. */
export function terminalLine(pieces: readonly Piece[], { width, color }: LineOptions): string {
  const shown = pieces.map(({ text, style }) => ({ text: visible(text), style }));
  const isCut = shown.reduce((sum, { text }) => sum + cells(text), 0) > width;
  let left = isCut ? width - 1 : width;
  const out: string[] = [];
  for (const { text, style } of shown) {
    const part = clipped(text, left);
    left -= cells(part);
    if (part !== "") out.push(color && style !== undefined ? `\x1b[${CODES[style]}m${part}\x1b[0m` : part);
    if (part !== text) break;
  }
  return `${out.join("")}${isCut && width > 0 ? "…" : ""}`;
}
