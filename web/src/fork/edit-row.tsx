// One edit of a fork.

import type { Moment } from "../journal/journal-shapes.ts";
import { visible } from "../part/format.ts";
import type { RunView } from "../run/use-run.ts";

export interface Edit {
  readonly kind: "artifact" | "variable" | "event" | "answer" | "model" | "pack";
  readonly name: string;
  readonly value: string;
}

interface RowProps {
  readonly view: RunView;
  readonly edit: Edit;
  readonly change: (edit: Edit) => void;
  readonly remove: () => void;
}

const KINDS: Readonly<Record<Edit["kind"], string>> = {
  artifact: "artifact",
  variable: "variable",
  event: "event to go on with",
  answer: "answer to a step",
  model: "model",
  pack: "pack",
};

export function EditRow({ view, edit, change, remove }: RowProps) {
  const moment = view.moment.value;
  const names = namesOf(edit.kind, moment);
  const isNamed = edit.kind === "artifact" || edit.kind === "variable" || edit.kind === "answer";
  const choose = (kind: Edit["kind"]): void => change({ kind, name: "", value: "" });
  const pick = async (name: string): Promise<void> => {
    const value =
      edit.kind === "artifact" && names.includes(name)
        ? await view.feed.questions.artifact(name, view.turn)
        : "";
    change({ ...edit, name, value: value === "" ? edit.value : value });
  };
  return (
    <div className="edit-row">
      <select
        aria-label="What to change"
        value={edit.kind}
        onChange={(event) => choose(event.target.value as Edit["kind"])}
      >
        {(Object.keys(KINDS) as Edit["kind"][]).map((kind) => (
          <option key={kind} value={kind}>
            {KINDS[kind]}
          </option>
        ))}
      </select>
      {isNamed && (
        <select
          aria-label={`Which ${edit.kind}`}
          value={edit.name}
          onChange={(event) => void pick(event.target.value)}
        >
          <option value="">choose…</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {visible(name)}
            </option>
          ))}
        </select>
      )}
      {edit.kind === "event" ? (
        <input
          aria-label="Event"
          value={edit.value}
          onChange={(event) => change({ ...edit, value: event.target.value })}
        />
      ) : (
        <textarea
          aria-label="Value"
          rows={edit.kind === "model" ? 1 : 4}
          className="mono"
          value={edit.value}
          onChange={(event) => change({ ...edit, value: event.target.value })}
        />
      )}
      <button type="button" className="button quiet" onClick={remove}>
        Remove
      </button>
    </div>
  );
}

function namesOf(kind: Edit["kind"], moment: Moment | undefined): readonly string[] {
  if (moment === undefined) return [];
  if (kind === "artifact") return moment.artifacts.map(({ name }) => name);
  if (kind === "variable") return Object.keys(moment.variables);
  if (kind !== "answer") return [];
  return moment.steps.filter(({ status }) => status === "open").map(({ step }) => String(step));
}
