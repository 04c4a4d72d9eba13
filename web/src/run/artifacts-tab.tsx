// The artifacts at the turn, and what changed since any other.

import { useState } from "react";
import { embeddedRun } from "../export/embedded-run.ts";
import type { ArtifactLine, Moment, ValueDiff } from "../journal/journal-shapes.ts";
import { DiffView } from "../part/diff-view.tsx";
import { visible } from "../part/format.ts";
import { Markdown } from "../part/markdown.tsx";
import { Failed, Loading } from "../part/notices.tsx";
import { TextView } from "../part/text-view.tsx";
import { useAsked } from "../part/use-asked.ts";
import { goWith } from "../route.ts";
import { CommitView } from "./commit-view.tsx";
import type { RunView } from "./use-run.ts";

interface TabProps {
  readonly view: RunView;
  readonly moment: Moment;
}

/** In place of a name: every artifact. */
export const ALL = "*";

export function ArtifactsTab({ view, moment }: TabProps) {
  return (
    <>
      {moment.artifacts.map((artifact) => (
        <Artifact key={artifact.name} view={view} artifact={artifact} turn={moment.turn} />
      ))}
    </>
  );
}

interface ArtifactProps {
  readonly view: RunView;
  readonly artifact: ArtifactLine;
  readonly turn: number;
}

function Artifact({ view, artifact, turn }: ArtifactProps) {
  const { name, type, mode } = artifact;
  const shown = view.query.get("diff");
  const isDiff = shown === name || shown === ALL;
  const isCommit = artifact.commit !== null && embeddedRun() === undefined;
  const isOpened = isCommit && view.query.get("commit") === name;
  const isNew = artifact.turn === turn;
  return (
    <section className="card artifact-card">
      <header className="artifact-head">
        <h3>{visible(name)}</h3>
        <span className="faint small">
          {visible(type)} {mode === "append" && "append"}
        </span>
        {isNew && <span className="chip run">written here</span>}
        <span className="grow" />
        {isCommit && (
          <button
            type="button"
            className="button quiet"
            aria-pressed={isOpened}
            onClick={() => goWith({ commit: isOpened ? undefined : name }, { replace: true })}
          >
            Commit
          </button>
        )}
        <button
          type="button"
          className="button quiet"
          aria-pressed={isDiff}
          onClick={() => goWith({ diff: isDiff ? undefined : name, since: undefined }, { replace: true })}
        >
          Diff
        </button>
      </header>
      <Origin view={view} artifact={artifact} />
      {isDiff ? (
        <Changes view={view} artifact={artifact} turn={turn} />
      ) : (
        <Value view={view} artifact={artifact} turn={turn} />
      )}
      {isOpened && <CommitView run={view.feed.run} artifact={name} turn={turn} />}
    </section>
  );
}

function Origin({ view, artifact: { source, turn } }: Omit<ArtifactProps, "turn">) {
  if (turn === null) return null;
  return (
    <p className="faint small">
      by {visible(source)}, turn{" "}
      <button type="button" className="inline-button numbers" onClick={() => view.look(turn)}>
        {turn}
      </button>
    </p>
  );
}

function Value({ view, artifact: { name, type, value, turn: written }, turn }: ArtifactProps) {
  const [isSource, setSource] = useState(false);
  const whole = () => view.feed.questions.artifact(name, turn);
  if (type !== "text/markdown" || value.isCut)
    return <TextView text={value} label={visible(name)} of={written} whole={whole} />;
  return (
    <>
      <div className="segments" role="group" aria-label={`How ${visible(name)} is shown`}>
        <button type="button" aria-pressed={!isSource} onClick={() => setSource(false)}>
          Rendered
        </button>
        <button type="button" aria-pressed={isSource} onClick={() => setSource(true)}>
          Source
        </button>
      </div>
      {isSource ? <TextView text={value} label={visible(name)} /> : <Markdown text={value.text} />}
    </>
  );
}

/** Between any two turns: the one that is looked at, and the one that is named. */
function Changes({ view, artifact, turn }: ArtifactProps) {
  const given = Number(view.query.get("since") ?? Number.NaN);
  const isGiven = Number.isSafeInteger(given) && given >= 0;
  const before = Math.min(isGiven ? given : (artifact.before ?? 0), view.state.turns);
  const { value, error } = useAsked<ValueDiff>(`${artifact.name} ${before} ${turn}`, () =>
    view.feed.questions.diff(artifact.name, { before, after: turn }),
  );
  return (
    <>
      <label className="inline-field small">
        turn {turn}, since turn
        <input
          type="number"
          min={0}
          max={view.state.turns}
          value={before}
          onChange={(event) => goWith({ since: event.target.value }, { replace: true })}
        />
        {before === 0 && <span className="faint">before the run</span>}
      </label>
      {error !== undefined && <Failed error={error} />}
      {error === undefined &&
        (value === undefined ? (
          <Loading lines={3} />
        ) : (
          <DiffView diff={value} label={`Changes of ${visible(artifact.name)}`} />
        ))}
    </>
  );
}
