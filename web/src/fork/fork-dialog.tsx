// A new run from a turn of this one: decided again from the recorded answers, live from here, or with
// edits. What it would call is shown before. The run itself never changes.

import { useEffect, useState } from "react";
import type { Summary } from "../../../src/core/summary.ts";
import type { ForkView } from "../../../src/host/fork-view.ts";
import { ask, runPath } from "../api.ts";
import { CopyButton } from "../part/copy-button.tsx";
import { Dialog } from "../part/dialog.tsx";
import { visible } from "../part/format.ts";
import { useAsked } from "../part/use-asked.ts";
import { go, runHref } from "../route.ts";
import type { RunView } from "../run/use-run.ts";
import { commandFor, type Edit, exchanged, isWhole, sentEdit } from "./edit.ts";
import { EditRow, type ForkPack } from "./edit-row.tsx";
import { ForkPlan } from "./fork-plan.tsx";
import { Replayed } from "./replayed.tsx";

interface ForkProps {
  readonly view: RunView;
  readonly close: () => void;
}

const MODES = { replay: "Replay", live: "Run live from here", edit: "Edit, then run" } as const;
type Mode = keyof typeof MODES;

export function ForkDialog({ view, close }: ForkProps) {
  const { feed, turn } = view;
  const [mode, setMode] = useState<Mode>("live");
  return (
    <Dialog title={`Fork from turn ${turn}`} close={close} isWide>
      <p className="lead">{visible(feed.run)} stays as it is, whatever you choose.</p>
      <div className="segments" role="group" aria-label="How to go on">
        {(Object.keys(MODES) as Mode[]).map((one) => (
          <button key={one} type="button" aria-pressed={one === mode} onClick={() => setMode(one)}>
            {MODES[one]}
          </button>
        ))}
      </div>
      {mode === "replay" ? (
        <Replayed run={feed.run} turn={turn} />
      ) : (
        <Fork key={mode} view={view} hasEdits={mode === "edit"} />
      )}
    </Dialog>
  );
}

function Fork({ view, hasEdits }: { readonly view: RunView; readonly hasEdits: boolean }) {
  const { feed, turn } = view;
  const [edits, setEdits] = useState<readonly Edit[]>([]);
  const [isReset, setReset] = useState(false);
  const [plan, setPlan] = useState<ForkView>();
  const [problem, setProblem] = useState<string>();
  const terms = { run: feed.run, turn, edits, isReset };
  const body = { turn, edits: edits.map(sentEdit), reset_budget: isReset };
  const act = async (work: () => Promise<void>): Promise<void> => {
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const preview = () =>
    act(async () => setPlan(await ask<ForkView>(`${runPath(feed.run)}/fork?dry_run=true`, { body })));
  const run = () =>
    act(async () => go(runHref((await ask<Summary>(`${runPath(feed.run)}/fork`, { body })).run)));
  // Without edits there is nothing to wait for.
  useEffect(() => {
    if (!hasEdits) void preview();
  }, [hasEdits, isReset]);
  const change = (next: (before: readonly Edit[]) => readonly Edit[]): void => {
    setEdits(next);
    setPlan(undefined);
  };
  const isReady = edits.every(isWhole);
  return (
    <>
      {hasEdits && <Edits view={view} edits={edits} change={change} />}
      <label className="check">
        <input type="checkbox" checked={isReset} onChange={(event) => setReset(event.target.checked)} />
        begin the budgets anew
      </label>
      {plan !== undefined && <ForkPlan plan={plan} />}
      {problem !== undefined && (
        <p className="problem" role="alert">
          {visible(problem)}
        </p>
      )}
      <div className="actions end">
        <CopyButton text={() => commandFor(terms)}>Copy command</CopyButton>
        {hasEdits && (
          <button type="button" className="button" disabled={!isReady} onClick={() => void preview()}>
            Preview
          </button>
        )}
        <button type="button" className="button primary" disabled={!isReady} onClick={() => void run()}>
          Fork and run
        </button>
      </div>
    </>
  );
}

interface EditsProps {
  readonly view: RunView;
  readonly edits: readonly Edit[];
  readonly change: (next: (before: readonly Edit[]) => readonly Edit[]) => void;
}

function Edits({ view, edits, change }: EditsProps) {
  const digest = view.moment.value?.summary.pack.digest;
  const { value: pack } = useAsked<ForkPack>(digest, () =>
    ask<ForkPack>(`/api/packs/${encodeURIComponent(digest ?? "")}`),
  );
  return (
    <>
      <ul className="edits">
        {edits.map((edit, index) => (
          <li key={index}>
            <EditRow
              view={view}
              pack={pack}
              edit={edit}
              change={(next) => change((before) => exchanged(before, edit, next))}
              remove={() => change((before) => before.filter((one) => one !== edit))}
            />
          </li>
        ))}
      </ul>
      <div className="actions">
        <button
          type="button"
          className="button"
          onClick={() => change((before) => [...before, { kind: "artifact", name: "", value: "" }])}
        >
          Add an edit
        </button>
      </div>
    </>
  );
}
