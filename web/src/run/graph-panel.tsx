// The run on the graph of its pack: as states that were visited so often, or as the way it took.

import { useMemo } from "react";
import type { PackShape } from "../journal/journal-shapes.ts";
import { Failed, Loading } from "../part/notices.tsx";
import { PackGraph } from "../part/pack-graph.tsx";
import { StateTable } from "../part/state-table.tsx";
import { useAsked } from "../part/use-asked.ts";
import { goWith } from "../route.ts";
import type { RunView } from "./use-run.ts";
import { WayView } from "./way-view.tsx";

const MODES = { graph: "States", way: "Way", table: "Table" } as const;
type Mode = keyof typeof MODES;

export function GraphPanel({ view }: { readonly view: RunView }) {
  const { feed, state, query, moment } = view;
  const digest = (moment.value?.summary ?? state.summary)?.pack.digest;
  const shape = useAsked<PackShape>(digest, async () => feed.questions.shape(digest ?? ""));
  const given = query.get("graph") ?? "graph";
  const mode: Mode = given === "way" || given === "table" ? given : "graph";
  return (
    <section className="panel graph-panel" aria-label="Graph">
      <header className="panel-head">
        <h2>Graph</h2>
        <span className="grow" />
        <div className="segments" role="group" aria-label="Kind of graph">
          {(Object.keys(MODES) as Mode[]).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === mode}
              onClick={() => goWith({ graph: one === "graph" ? undefined : one }, { replace: true })}
            >
              {MODES[one]}
            </button>
          ))}
        </div>
      </header>
      <Shown view={view} mode={mode} shape={shape.value} error={shape.error} again={shape.again} />
    </section>
  );
}

interface ShownProps {
  readonly view: RunView;
  readonly mode: Mode;
  readonly shape: PackShape | undefined;
  readonly error: Error | undefined;
  readonly again: () => void;
}

function Shown({ view, mode, shape, error, again }: ShownProps) {
  const { moment, state, query } = view;
  const summary = moment.value?.summary ?? state.summary;
  const overlay = useMemo(
    () => ({
      visits: summary?.visits ?? {},
      ways: moment.value?.ways ?? {},
      current: summary?.state ?? null,
      only: query.get("state"),
    }),
    [summary, moment.value, query],
  );
  const pick = (name: string): void => goWith({ state: query.get("state") === name ? undefined : name });
  if (error !== undefined) return <Failed error={error} again={again} />;
  if (shape === undefined) return <Loading lines={6} label="Loading the graph" />;
  if (mode === "way") return <WayView view={view} states={shape.states} />;
  if (mode === "table") return <StateTable states={shape.states} overlay={overlay} />;
  return <PackGraph drawing={shape.drawing} overlay={overlay} pick={pick} />;
}
