// One line of the table: what was measured, and the bar it is held to.

export interface Figure {
  /** Of the list of bars: P1 to P11. */
  readonly id: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The figure must be no less, or no more, than this. */
  readonly bar: { readonly min: number } | { readonly max: number };
  /** The same from the rounds that were disturbed least. */
  readonly quickest?: number;
  /** What the figure was made from. */
  readonly from?: string;
}

export const isMet = ({ value, bar }: Figure): boolean =>
  "min" in bar ? value >= bar.min : value <= bar.max;

export function lineOf(figure: Figure): string {
  const { id, what, value, unit, bar, quickest, from } = figure;
  const wanted = "min" in bar ? `>= ${bar.min}` : `<= ${bar.max}`;
  const cells = [
    id.padEnd(4),
    what.padEnd(44),
    `${shown(value)} ${unit}`.padStart(14),
    (quickest === undefined ? "" : shown(quickest)).padStart(9),
    wanted.padStart(9),
    (isMet(figure) ? "met" : "not met").padStart(8),
    from === undefined ? "" : `  ${from}`,
  ];
  return cells.join(" ").trimEnd();
}

export const heading = [
  "id".padEnd(4),
  "figure".padEnd(44),
  "median".padStart(14),
  "quickest".padStart(9),
  "bar".padStart(9),
].join(" ");

const shown = (value: number): string =>
  Math.abs(value) < 10 ? value.toFixed(2) : Math.abs(value) < 100 ? value.toFixed(1) : value.toFixed(0);
