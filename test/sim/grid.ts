// Which accident met which ask at which moment. Every cell that can happen must have happened somewhere, or
// the quiet of the seeds means little.

import type { OpenAsk } from "../../src/core/run.ts";

/** An ask and the moment it is in. */
const MOMENTS = [
  "model",
  "model called",
  "safe tool",
  "safe tool called",
  "unsafe tool",
  "unsafe tool sent",
  "unsafe tool called",
  "call in doubt",
  "call deferred",
  "call asleep",
  "call asking",
  "agent",
  "approval",
  "event",
  "message",
  "timer",
  "wake",
  "reply",
  "stop",
] as const;

export type Moment = (typeof MOMENTS)[number];

const ACCIDENTS = ["crash", "pause", "rival", "again", "jump", "fork", "pack", "cancel"] as const;
const FATES = ["later", "never", "unknown", "hangs", "breaks", "late"] as const;

export type Accident = (typeof ACCIDENTS)[number] | (typeof FATES)[number];

export function momentOf(
  open: OpenAsk,
  call: { readonly isSafe: boolean; readonly called: boolean },
): Moment {
  const { ask, hold, later } = open;
  if (hold === "in_doubt") return "call in doubt";
  if (hold === "deferred" && later?.wakes === true) return "call asleep";
  if (hold === "deferred") return later?.question === undefined ? "call deferred" : "call asking";
  if (ask.kind === "timer") return ask.wakes === undefined ? "timer" : "wake";
  if (ask.kind === "model") return call.called ? "model called" : "model";
  if (ask.kind !== "tool") return ask.kind;
  if (call.isSafe) return call.called ? "safe tool called" : "safe tool";
  if (call.called) return "unsafe tool called";
  return open.sent === true ? "unsafe tool sent" : "unsafe tool";
}

export const cell = (moment: Moment, accident: Accident): string => `${moment} | ${accident}`;

/** What a call comes to can only befall a call; a run that is over is neither forked nor cancelled. */
function canHappen(moment: Moment, accident: Accident): boolean {
  if ((FATES as readonly string[]).includes(accident)) return moment.endsWith("called");
  return moment !== "reply" || !["fork", "pack", "cancel"].includes(accident);
}

/** Cells that can happen and did not. */
export function emptyCells(coverage: ReadonlyMap<string, number>): readonly string[] {
  return MOMENTS.flatMap((moment) =>
    [...ACCIDENTS, ...FATES]
      .filter((accident) => canHappen(moment, accident) && !coverage.has(cell(moment, accident)))
      .map((accident) => cell(moment, accident)),
  );
}

export function tableOf(coverage: ReadonlyMap<string, number>): string {
  const columns = [...ACCIDENTS, ...FATES];
  const rows = MOMENTS.map((moment) => {
    const counts = columns.map((accident) =>
      canHappen(moment, accident) ? String(coverage.get(cell(moment, accident)) ?? 0) : "–",
    );
    return [moment, ...counts];
  });
  const width = (index: number) => (index === 0 ? 19 : 8);
  return [["", ...columns], ...rows]
    .map((row) =>
      row.map((text, index) => (index === 0 ? text.padEnd(19) : text.padStart(width(index)))).join(""),
    )
    .join("\n");
}
