// One turn in every detail. Tabs that have nothing to show are not there.

import { type ReactNode, useEffect, useRef } from "react";
import type { Moment, StepView } from "../journal/journal-shapes.ts";
import { count } from "../part/format.ts";
import { Failed, Loading } from "../part/notices.tsx";
import { useAsked } from "../part/use-asked.ts";
import { goWith } from "../route.ts";
import { ArtifactsTab } from "./artifacts-tab.tsx";
import { LogsTab } from "./logs-tab.tsx";
import { OverviewTab } from "./overview-tab.tsx";
import { MessagesTab, PromptTab } from "./prompt-tab.tsx";
import { FactsTab, RawTab } from "./raw-tab.tsx";
import { ToolsTab } from "./tools-tab.tsx";
import type { RunView } from "./use-run.ts";

const TABS = {
  overview: "Overview",
  prompt: "Prompt",
  messages: "Messages",
  tools: "Tools",
  artifacts: "Artifacts",
  raw: "Raw",
  facts: "Facts",
  logs: "Logs",
} as const;
export type Tab = keyof typeof TABS;

function tabsOf(moment: Moment | undefined): readonly Tab[] {
  const hasModel = (moment?.modelStep ?? null) !== null;
  const hasTools = moment?.steps.some(({ tool }) => tool !== null) === true;
  const hasArtifacts = (moment?.artifacts.length ?? 0) > 0;
  return (Object.keys(TABS) as Tab[]).filter((tab) => {
    if (tab === "prompt" || tab === "messages" || tab === "raw") return hasModel;
    if (tab === "tools") return hasTools;
    if (tab === "logs") return (moment?.logs.length ?? 0) > 0;
    return tab === "artifacts" ? hasArtifacts : true;
  });
}

function tabNow({ query, moment }: RunView): Tab {
  return tabsOf(moment.value).find((tab) => tab === query.get("tab")) ?? "overview";
}

export function moveTab(view: RunView, by: 1 | -1): void {
  const tabs = tabsOf(view.moment.value);
  const at = tabs.indexOf(tabNow(view));
  const next = tabs[(at + by + tabs.length) % tabs.length] ?? "overview";
  showTab(next);
}

const showTab = (tab: Tab): void => goWith({ tab: tab === "overview" ? undefined : tab }, { replace: true });

export function Inspector({ view }: { readonly view: RunView }) {
  const { moment, feed, turn, state } = view;
  const tab = tabNow(view);
  const tabs = tabsOf(moment.value);
  const model = moment.value?.modelStep ?? null;
  const shownTurn = moment.value?.turn ?? turn;
  const isModelTab = tab === "prompt" || tab === "messages" || tab === "raw";
  const key = model === null ? undefined : `${feed.run} ${model} ${shownTurn}`;
  // What the model was sent may be long, so it is put together only where it is shown.
  const full = useAsked<StepView>(isModelTab ? key : undefined, () =>
    feed.questions.step(model ?? 0, shownTurn),
  );
  const brief = useAsked<StepView>(tab === "overview" ? key : undefined, () =>
    feed.questions.step(model ?? 0, shownTurn, "brief"),
  );
  const list = useTabInSight(tab);
  return (
    <section className="panel inspector" aria-label="Inspector">
      <h2 className="unseen">Inspector</h2>
      <div className="tabs" role="tablist" aria-label="What to look at" ref={list}>
        {tabs.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`tab-${one}`}
            aria-selected={one === tab}
            aria-controls="tab-panel"
            tabIndex={one === tab ? 0 : -1}
            onClick={() => showTab(one)}
            onKeyDown={(event) => {
              if (event.key === "ArrowRight") moveTab(view, 1);
              if (event.key === "ArrowLeft") moveTab(view, -1);
            }}
          >
            {TABS[one]}
          </button>
        ))}
      </div>
      <div className="tab-panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {moment.error !== undefined && <Failed error={moment.error} again={moment.again} />}
        {moment.value === undefined && moment.error === undefined && (
          <>
            <Loading lines={6} label="Reading the journal" />
            {state.loaded < state.turns && (
              <p className="faint small numbers">
                {count(state.loaded)} of {count(state.turns)} turns read
              </p>
            )}
          </>
        )}
        {moment.value !== undefined && (
          <TabOf tab={tab} view={view} moment={moment.value} step={(isModelTab ? full : brief).value} />
        )}
      </div>
    </section>
  );
}

/** Where there is no room for all tabs the chosen one is in sight; nothing else of the page moves. */
function useTabInSight(tab: Tab) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = list;
    const chosen = current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (current === null || chosen === null || chosen === undefined) return;
    const [start, end] = [chosen.offsetLeft, chosen.offsetLeft + chosen.offsetWidth];
    const first = current.offsetLeft + current.scrollLeft;
    if (start < first) current.scrollLeft -= first - start;
    else if (end > first + current.clientWidth) current.scrollLeft += end - first - current.clientWidth;
  }, [tab]);
  return list;
}

interface TabProps {
  readonly tab: Tab;
  readonly view: RunView;
  readonly moment: Moment;
  readonly step: StepView | undefined;
}

function TabOf({ tab, view, moment, step }: TabProps): ReactNode {
  switch (tab) {
    case "overview":
      return <OverviewTab view={view} moment={moment} step={step} />;
    case "prompt":
      return <PromptTab view={view} step={step} />;
    case "messages":
      return <MessagesTab view={view} step={step} />;
    case "tools":
      return <ToolsTab view={view} moment={moment} />;
    case "artifacts":
      return <ArtifactsTab view={view} moment={moment} />;
    case "raw":
      return <RawTab view={view} step={step} />;
    case "facts":
      return <FactsTab view={view} moment={moment} />;
    case "logs":
      return <LogsTab view={view} moment={moment} />;
  }
}
