// The turn at a glance: who is asked what now, what happened in this visit, and what the model said.

import type { InboxItem } from "../../../src/host/inbox.ts";
import { ask } from "../api.ts";
import { embeddedRun } from "../export/embedded-run.ts";
import { AskCard } from "../inbox/ask-card.tsx";
import type { Moment, StepView, TurnLine } from "../journal/journal-shapes.ts";
import { clock, duration, visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { Failed } from "../part/notices.tsx";
import { Said } from "../part/said.tsx";
import { TextView } from "../part/text-view.tsx";
import { useAsked } from "../part/use-asked.ts";
import { useChanges } from "../part/use-changes.ts";
import { runHref } from "../route.ts";
import { ownAsks } from "./open-asks.ts";
import type { RunView } from "./use-run.ts";

interface OverviewProps {
  readonly view: RunView;
  readonly moment: Moment;
  readonly step: StepView | undefined;
}

export function OverviewTab({ view, moment, step }: OverviewProps) {
  const { summary } = moment;
  const reply = step?.reply ?? null;
  const isNewest = moment.turn === view.state.turns;
  return (
    <>
      {isNewest && embeddedRun() === undefined && <OpenAsks view={view} moment={moment} />}
      <section className="block-section">
        <h3>
          {visible(summary.state ?? "the run")}
          <span className="faint">
            {" "}
            turns {moment.turns[0]?.turn ?? 1} to {moment.turns.at(-1)?.turn ?? 1}
          </span>
        </h3>
        <ol className="turn-list">
          {moment.turns.map((line, index) => (
            <TurnItem
              key={line.turn}
              line={line}
              before={moment.turns[index - 1]}
              selected={moment.turn}
              look={view.look}
            />
          ))}
        </ol>
      </section>
      {reply !== null && reply.text.text !== "" && (
        <section className="block-section">
          <h3>The model said</h3>
          <Said text={reply.text} whole={() => view.feed.questions.whole(step?.step ?? 0, "reply")} />
        </section>
      )}
      <Children moment={moment} />
      {moment.input.text !== "" && (
        <section className="block-section">
          <h3>Task</h3>
          <TextView
            text={moment.input}
            label="Task"
            isProse
            whole={() => view.feed.questions.input(moment.turn)}
          />
        </section>
      )}
      <Variables view={view} moment={moment} />
    </>
  );
}

function OpenAsks({ view, moment }: { readonly view: RunView; readonly moment: Moment }) {
  const { run } = view.feed;
  const { waiting_for: waits } = moment.summary;
  const round = useChanges();
  // What the journal does not say: what calls can do, who started the run, and what its agents ask.
  const more = useAsked(waits.length === 0 ? undefined : `${run} ${moment.turn} ${round}`, () =>
    ask<{ readonly items: readonly InboxItem[] }>(`/api/inbox?run=${encodeURIComponent(run)}`),
  );
  const told = more.value?.items ?? [];
  const own = ownAsks(run, moment, told);
  const agents = told.filter((item) => item.run !== run);
  return (
    <>
      {more.error !== undefined && own.length < waits.length && (
        <Failed error={more.error} again={more.again} />
      )}
      {[...own, ...agents].map((item) => (
        <AskCard key={`${item.run} ${item.step}`} item={item} within={run} stale={more.again} />
      ))}
    </>
  );
}

interface ItemProps {
  readonly line: TurnLine;
  readonly before: TurnLine | undefined;
  readonly selected: number;
  readonly look: (turn: number) => void;
}

const MARKS: Readonly<Record<TurnLine["kind"], string>> = {
  start: "●",
  move: "→",
  model: "◆",
  tool: "⚙",
  person: "☺",
  end: "■",
  note: "·",
};

function TurnItem({ line, before, selected, look }: ItemProps) {
  const name = line.turn === selected ? "selected" : line.turn > selected ? "later" : "";
  return (
    <li className={name}>
      <button
        type="button"
        className="row-button"
        aria-current={line.turn === selected ? "true" : undefined}
        onClick={() => look(line.turn)}
        title={clock(line.at)}
      >
        <span className="numbers faint turn-number">{line.turn}</span>
        <span aria-hidden="true" className={`turn-mark ${line.kind}`}>
          {MARKS[line.kind]}
        </span>
        <span className="turn-text">{visible(line.text)}</span>
        <span className="numbers faint">
          {before === undefined ? "" : `+${duration(line.at - before.at)}`}
        </span>
      </button>
    </li>
  );
}

function Children({ moment }: { readonly moment: Moment }) {
  const called = moment.steps.filter(({ child }) => child !== null);
  if (called.length === 0) return null;
  return (
    <section className="block-section">
      <h3>Agents called in this visit</h3>
      <ul className="plain-list">
        {called.map((step) => (
          <li key={step.step}>
            <Link to={runHref(step.child ?? "")}>{visible(step.tool ?? "agent")}</Link>{" "}
            <span className="faint">
              {step.child}, {step.status}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Variables({ view, moment }: { readonly view: RunView; readonly moment: Moment }) {
  const { variables, turn } = moment;
  if (variables.length === 0) return null;
  return (
    <section className="block-section">
      <h3>Variables</h3>
      <dl className="pairs">
        {variables.map(({ name, value }) => (
          <div key={name}>
            <dt>{visible(name)}</dt>
            <dd>
              {value.isCut ? (
                <TextView text={value} label={name} whole={() => view.feed.questions.variable(name, turn)} />
              ) : (
                visible(value.text)
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
