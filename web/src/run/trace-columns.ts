// Which columns of the trace are shown: the address names those that are not.

import { type CSSProperties, useMemo } from "react";

/** Columns beside those of artifacts. The transition is always there: it is what a row is. */
export const FIXED = {
  turn: "Turn",
  event: "Event",
  time: "Time",
  calls: "Calls",
  tokens: "Tokens",
} as const;

export type FixedColumn = keyof typeof FIXED;

export const FIXED_COLUMNS = Object.keys(FIXED) as readonly FixedColumn[];

export interface Columns {
  /** Artifacts, in order. */
  readonly names: readonly string[];
  readonly fixed: ReadonlySet<FixedColumn>;
}

/** What stands in the address for a column; no artifact has a name with a colon in it there. */
export const keyOfFixed = (column: FixedColumn): string => `:${column}`;
export const keyOfArtifact = (name: string): string => encodeURIComponent(name);

export const hiddenIn = (query: URLSearchParams): readonly string[] =>
  (query.get("hide") ?? "").split(",").filter((key) => key !== "");

/** The same object for as long as it says the same: rows are drawn again only for another one. */
export function useColumns(query: URLSearchParams, artifacts: readonly string[]): Columns {
  const [hide, all] = [query.get("hide") ?? "", JSON.stringify(artifacts)];
  return useMemo(() => {
    const hidden = new Set(hiddenIn(query));
    return {
      names: artifacts.filter((name) => !hidden.has(keyOfArtifact(name))),
      fixed: new Set(FIXED_COLUMNS.filter((column) => !hidden.has(keyOfFixed(column)))),
    };
  }, [hide, all]);
}

const WIDTHS: Readonly<Record<FixedColumn, readonly [text: string, least: number]>> = {
  turn: ["52px", 52],
  event: ["minmax(90px, 1fr)", 90],
  time: ["74px", 74],
  calls: ["52px", 52],
  tokens: ["62px", 62],
};

const ARTIFACT = 104;
const TRANSITION = 142;
/** What a row keeps free at its end. */
const SIDE = 12;

export function gridOf({ names, fixed }: Columns): CSSProperties {
  const width = (column: FixedColumn): string => (fixed.has(column) ? WIDTHS[column][0] : "");
  const columns = [
    width("turn"),
    `minmax(${TRANSITION}px, 1.2fr)`,
    width("event"),
    ...names.map(() => `minmax(${ARTIFACT}px, 1fr)`),
    ...(["time", "calls", "tokens"] as const).map(width),
  ].filter((column) => column !== "");
  const others = TRANSITION + names.length * ARTIFACT + SIDE;
  const least = [...fixed].reduce((sum, column) => sum + WIDTHS[column][1], others);
  return { "--columns": columns.join(" "), "--least": `${least}px` } as CSSProperties;
}
