// A run: where it went, how it stood at any turn, and what was said there.

import { useEffect, useRef, useState } from "react";
import { embeddedRun } from "../export/embedded-run.ts";
import { ForkDialog } from "../fork/fork-dialog.tsx";
import { copyText } from "../part/copy-button.tsx";
import { type KeyTable, useKeys } from "../part/keys.ts";
import { Failed, Loading } from "../part/notices.tsx";
import { go, goWith, linkNow, packHref } from "../route.ts";
import { ALL } from "./artifacts-tab.tsx";
import { BudgetStrip } from "./budget-strip.tsx";
import { CompareDialog } from "./compare-dialog.tsx";
import { GraphPanel } from "./graph-panel.tsx";
import { Inspector, moveTab } from "./inspector.tsx";
import { RunHeader } from "./run-header.tsx";
import { Scrubber } from "./scrubber.tsx";
import { Splitter } from "./splitter.tsx";
import { TracePanel } from "./trace-panel.tsx";
import { type RunView, useRun } from "./use-run.ts";

/** A dialog stands in the address, too: a link may open one. */
const setDialog = (dialog: "fork" | "compare" | undefined): void => goWith({ dialog }, { replace: true });

const PANELS = ["trace", "graph", "inspector"] as const;
type Panel = (typeof PANELS)[number];

export function RunScreen({ run }: { readonly run: string }) {
  const view = useRun(run);
  useKeys(view === undefined ? {} : keysOf(view, setDialog));
  const dialog = view?.query.get("dialog");
  if (view === undefined) return <Loading />;
  const { state } = view;
  if (state.error !== undefined && state.summary === undefined)
    return <Failed isScreen error={state.error} />;
  if (state.summary === undefined) return <Loading lines={8} label="Loading the run" />;
  const panel = PANELS.find((one) => one === view.query.get("panel")) ?? "trace";
  return (
    <div className="run-screen" data-panel={panel}>
      <RunHeader view={view} summary={state.summary} open={setDialog} />
      <BudgetStrip view={view} summary={state.summary} />
      <Scrubber view={view} />
      <PanelSwitch panel={panel} />
      <div className="panels">
        <GraphPanel view={view} />
        <Splitter name="left" label="Width of the graph" />
        <TracePanel view={view} />
        <Splitter name="right" label="Width of the inspector" />
        <Inspector view={view} />
      </div>
      <Announcer view={view} />
      {dialog === "fork" && <ForkDialog view={view} close={() => setDialog(undefined)} />}
      {dialog === "compare" && <CompareDialog run={run} close={() => setDialog(undefined)} />}
    </div>
  );
}

function keysOf(view: RunView, open: (dialog: "fork" | "compare") => void): KeyTable {
  const { turn, look, state } = view;
  const step = (by: number) => () => look(turn + by);
  const sameState = (by: 1 | -1) => () => {
    const row = rowOf(view);
    const here = state.visits.get(row);
    for (let index = row + by; index >= 0 && index < state.visitCount; index += by) {
      const other = state.visits.get(index);
      if (other !== undefined && other.to === here?.to) return look(other.turn);
    }
  };
  return {
    j: step(1),
    k: step(-1),
    ArrowDown: step(1),
    ArrowUp: step(-1),
    Home: () => look(1),
    End: () => look(state.turns),
    "[": sameState(-1),
    "]": sameState(1),
    h: () => moveTab(view, -1),
    l: () => moveTab(view, 1),
    ".": () => look(undefined),
    d: () => goWith({ tab: "artifacts", diff: ALL, since: sinceVisit(view) }, { replace: true }),
    y: () => void copyText(linkNow()),
    ...(embeddedRun() === undefined && serverKeys(view, open)),
  };
}

/** The last turn before the visit that is looked at. */
const sinceVisit = (view: RunView): number =>
  Math.max(0, (view.state.visits.get(rowOf(view))?.turn ?? 1) - 1);

/** Of the turn that is looked at, also while what is known of it is still on its way. */
function rowOf({ turn, moment, state }: RunView): number {
  if (moment.value?.turn === turn) return moment.value.row;
  let row = -1;
  for (const [place, visit] of state.visits) if (visit.turn <= turn && place > row) row = place;
  return row;
}

/** What a file cannot do by itself. */
function serverKeys({ state }: RunView, open: (dialog: "fork" | "compare") => void): KeyTable {
  return {
    f: () => open("fork"),
    c: () => open("compare"),
    "g p": () => {
      if (state.summary !== undefined) go(packHref(state.summary.pack.digest));
    },
  };
}

/** On narrow screens one panel is shown at a time. */
function PanelSwitch({ panel }: { readonly panel: Panel }) {
  return (
    <div className="panel-switch" role="group" aria-label="Panel">
      {PANELS.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === panel}
          onClick={() => goWith({ panel: one === "trace" ? undefined : one }, { replace: true })}
        >
          {one === "trace" ? "Trace" : one === "graph" ? "Graph" : "Inspector"}
        </button>
      ))}
    </div>
  );
}

/** Says where the run is, at most once a second, to those who cannot see it move. */
function Announcer({ view: { state } }: { readonly view: RunView }) {
  const { summary } = state;
  const text = `${summary?.status.replace("_", " ") ?? ""} in ${summary?.state ?? "no state"}`;
  const [said, setSaid] = useState("");
  const newest = useRef(text);
  newest.current = text;
  const isNews = said !== text;
  // Changes that come faster are passed over; the last one is always said.
  useEffect(() => {
    if (!isNews) return undefined;
    const timer = setTimeout(() => setSaid(newest.current), 1_000);
    return () => clearTimeout(timer);
  }, [said, isNews]);
  return (
    <p className="unseen" aria-live="polite">
      {said}
    </p>
  );
}
