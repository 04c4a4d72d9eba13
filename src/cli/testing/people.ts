// What people in a test say to a run that waits.

import type { Input } from "../../core/input.ts";
import type { OpenAsk, Run } from "../../core/run.ts";
import type { Act } from "./pack-test.ts";

/** Undefined when the run does not wait for that. */
export function inputOf(act: Act, run: Run, at: number): Input | undefined {
  switch (act.do) {
    case "approve": {
      const step = openStep(run, ({ ask }) => ask.kind === "approval" && ask.tool === act.tool);
      const edit = act.edit === undefined ? {} : { edit: act.edit };
      return step === undefined ? undefined : { type: "approve", at, step, by: act.by, ...edit };
    }
    case "reject": {
      const step = openStep(run, ({ ask }) => ask.kind === "approval" && ask.tool === act.tool);
      return step === undefined ? undefined : { type: "reject", at, step, by: act.by, reason: act.reason };
    }
    case "answer": {
      const step = openStep(
        run,
        ({ ask, hold }) =>
          (ask.kind === "tool" || ask.kind === "agent") && ask.tool === act.tool && hold !== null,
      );
      return step === undefined ? undefined : { type: "answer", at, step, outcome: act.outcome, by: act.by };
    }
    case "say":
      return waitsFor(run, "message") ? { type: "message", at, text: act.text, by: act.by } : undefined;
    case "send": {
      const { event, by, context, artifacts } = act;
      if (!waitsFor(run, "event") && !waitsFor(run, "message")) return undefined;
      return {
        ...{ type: "event", at, name: event, by },
        ...(context !== undefined && { context }),
        ...(artifacts !== undefined && { artifacts }),
      };
    }
    case "cancel":
      return { type: "cancel", at, by: act.by, reason: act.reason };
  }
}

export function waitsFor(run: Run, kind: "event" | "message"): boolean {
  return openStep(run, ({ ask }) => ask.kind === kind) !== undefined;
}

function openStep(run: Run, fits: (open: OpenAsk) => boolean): number | undefined {
  const found = Object.entries(run.open).find(([, open]) => fits(open));
  return found && Number(found[0]);
}

/** An act in a few words. */
export function actText(act: Act): string {
  switch (act.do) {
    case "say":
      return `say \`${act.text}\``;
    case "send":
      return `send \`${act.event}\``;
    case "cancel":
      return "cancel";
    default:
      return `${act.do} \`${act.tool}\``;
  }
}
