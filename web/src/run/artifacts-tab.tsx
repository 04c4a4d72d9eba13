// The artifacts at the turn, and what changed since any other.

import { useState } from "react";
import type { ArtifactLine, Moment, ValueDiff } from "../journal/journal-shapes.ts";
import { DiffView } from "../part/diff-view.tsx";
import { visible } from "../part/format.ts";
import { Markdown } from "../part/markdown.tsx";
import { Failed, Loading } from "../part/notices.tsx";
import { TextView } from "../part/text-view.tsx";
import { useAsked } from "../part/use-asked.ts";
import { goWith } from "../route.ts";
import type { RunView } from "./use-run.ts";

interface TabProps {
  readonly view: RunView;
  readonly moment: Moment;
}

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
  const { name, type, mode, source } = artifact;
  const isDiff = view.query.get("diff") === name;
  const isNew = artifact.turn === turn;
  return (
    <section className="card artifact-card">
      <header className="artifact-head">
        <h3>{visible(name)}</h3>
        <span className="faint small">
          {type} {mode === "append" && "append"}
        </span>
        {isNew && <span className="chip run">written here</span>}
        <span className="grow" />
        <button
          type="button"
          className="button quiet"
          aria-pressed={isDiff}
          onClick={() => goWith({ diff: isDiff ? undefined : name }, { replace: true })}
        >
          Diff
        </button>
      </header>
      <p className="faint small">
        by {visible(source)}, turn{" "}
        <button type="button" className="inline-button numbers" onClick={() => view.look(artifact.turn)}>
          {artifact.turn}
        </button>
      </p>
      {isDiff ? (
        <Changes view={view} artifact={artifact} turn={turn} />
      ) : (
        <Value view={view} artifact={artifact} turn={turn} />
      )}
    </section>
  );
}

function Value({ view, artifact: { name, type, value }, turn }: ArtifactProps) {
  const whole = () => view.feed.questions.artifact(name, turn);
  if (type === "text/markdown" && !value.isCut) return <Markdown text={value.text} />;
  return <TextView text={value} label={name} whole={whole} />;
}

function Changes({ view, artifact, turn }: ArtifactProps) {
  const usual = artifact.before ?? 0;
  const [from, setFrom] = useState<number>();
  const before = Math.max(0, Math.min(from ?? usual, view.state.loaded));
  const after = turn;
  const { value, error } = useAsked<ValueDiff>(`${artifact.name} ${before} ${after}`, () =>
    view.feed.questions.diff(artifact.name, { before, after }),
  );
  return (
    <>
      <label className="inline-field small">
        since turn
        <input
          type="number"
          min={0}
          max={view.state.loaded}
          value={before}
          onChange={(event) => setFrom(Number(event.target.value))}
        />
        {before === 0 && <span className="faint">before the run</span>}
      </label>
      {error !== undefined && <Failed error={error} />}
      {value === undefined ? <Loading lines={3} /> : <DiffView diff={value} />}
    </>
  );
}
