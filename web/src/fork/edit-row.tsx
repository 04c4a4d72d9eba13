// One edit of a fork, as it is written.

import { useId, useState } from "react";
import type { Program } from "../../../src/core/program.ts";
import type { Moment } from "../journal/journal-shapes.ts";
import { visible } from "../part/format.ts";
import type { RunView } from "../run/use-run.ts";
import { type Edit, isNamed } from "./edit.ts";

/** The pack that the run has at the turn. */
export interface ForkPack {
  readonly source: string;
  readonly program: Program;
}

interface RowProps {
  readonly view: RunView;
  readonly pack: ForkPack | undefined;
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
  script: "script",
};

export function EditRow({ view, pack, edit, change, remove }: RowProps) {
  const names = namesOf(edit.kind, view.moment.value, pack?.program);
  const choose = (kind: Edit["kind"]): void =>
    change({ kind, name: "", value: kind === "pack" ? (pack?.source ?? "") : "" });
  const [problem, setProblem] = useState<string>();
  const pick = async (name: string): Promise<void> => {
    setProblem(undefined);
    try {
      const value = await valueNow(view, edit.kind, name);
      change({ ...edit, name, value: value || edit.value });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
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
      {isNamed(edit) && (
        <select
          aria-label={`Which ${edit.kind === "answer" ? "step" : edit.kind}`}
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
      <Value edit={edit} names={names} change={change} />
      <button type="button" className="button quiet" onClick={remove}>
        Remove
      </button>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {visible(problem)}
        </p>
      )}
    </div>
  );
}

const HINTS: Readonly<Partial<Record<Edit["kind"], string>>> = {
  answer: "a text, or JSON as in a script: {text, calls, artifacts, event}",
  pack: "YAML or JSON, or the digest of a pack that is known here",
  script: "JSON: answers of a scripted model, tools and people",
  model: "provider/model",
};

interface ValueProps {
  readonly edit: Edit;
  readonly names: readonly string[];
  readonly change: (edit: Edit) => void;
}

function Value({ edit, names, change }: ValueProps) {
  const list = useId();
  const set = (value: string): void => change({ ...edit, value });
  if (edit.kind === "event" || edit.kind === "model")
    return (
      <>
        <input
          aria-label={edit.kind === "event" ? "Event" : "Model"}
          placeholder={HINTS[edit.kind]}
          value={edit.value}
          list={list}
          onChange={(event) => set(event.target.value)}
        />
        <datalist id={list}>
          {(edit.kind === "event" ? names : []).map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </>
    );
  return (
    <textarea
      aria-label="Value"
      placeholder={HINTS[edit.kind]}
      rows={edit.kind === "pack" ? 10 : 4}
      className="mono"
      value={edit.value}
      onChange={(event) => set(event.target.value)}
    />
  );
}

/** What is there now is where an edit begins. */
async function valueNow({ feed, turn, moment }: RunView, kind: Edit["kind"], name: string): Promise<string> {
  const { artifacts = [], variables = [] } = moment.value ?? {};
  if (kind === "artifact" && artifacts.some((one) => one.name === name))
    return feed.questions.artifact(name, turn);
  if (kind === "variable" && variables.some((one) => one.name === name))
    return feed.questions.variable(name, turn);
  return "";
}

/** Also what the pack declares and the run has not yet. */
function namesOf(
  kind: Edit["kind"],
  moment: Moment | undefined,
  program: Program | undefined,
): readonly string[] {
  if (moment === undefined) return [];
  const { state } = moment.summary;
  const workflow = program?.workflow ?? null;
  switch (kind) {
    case "artifact":
      return united(moment.artifacts, Object.keys(workflow?.artifacts ?? {}));
    case "variable": {
      const prompts = Object.values(program?.prompts ?? {});
      return united(
        moment.variables,
        prompts.flatMap(({ variables }) => variables.map(({ name }) => name)),
      );
    }
    case "event": {
      const known = workflow !== null && state !== null && Object.hasOwn(workflow.states, state);
      return known ? Object.keys(workflow.states[state]?.events ?? {}) : [];
    }
    case "answer":
      return moment.steps.filter(({ status }) => OPEN.has(status)).map(({ step }) => String(step));
    default:
      return [];
  }
}

const OPEN: ReadonlySet<string> = new Set(["open", "in_doubt", "deferred"]);

const united = (
  there: readonly { readonly name: string }[],
  declared: readonly string[],
): readonly string[] => [...new Set([...there.map(({ name }) => name), ...declared])];
