// A new run from a turn of this one, with edits, after a look at what it would call. The run itself never
// changes.

import { useState } from "react";
import type { Summary } from "../../../src/core/summary.ts";
import type { ForkView } from "../../../src/host/fork-view.ts";
import { ask, runPath } from "../api.ts";
import { valueIn } from "../inbox/json-field.ts";
import { cutValue } from "../journal/cut-text.ts";
import { CopyButton } from "../part/copy-button.tsx";
import { Dialog } from "../part/dialog.tsx";
import { visible } from "../part/format.ts";
import { TextView } from "../part/text-view.tsx";
import { go, runHref } from "../route.ts";
import type { RunView } from "../run/use-run.ts";
import { type Edit, EditRow } from "./edit-row.tsx";

interface ForkProps {
  readonly view: RunView;
  readonly close: () => void;
}

export function ForkDialog({ view, close }: ForkProps) {
  const { feed, turn } = view;
  const [edits, setEdits] = useState<readonly Edit[]>([]);
  const [isReset, setReset] = useState(false);
  const [plan, setPlan] = useState<ForkView>();
  const [problem, setProblem] = useState<string>();
  const body = { turn, edits: edits.map(sentEdit), reset_budget: isReset };
  const change = (next: readonly Edit[]): void => {
    setEdits(next);
    setPlan(undefined);
  };
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
    act(async () => {
      const forked = await ask<Summary>(`${runPath(feed.run)}/fork`, { body });
      go(runHref(forked.run));
    });
  return (
    <Dialog title={`Fork from turn ${turn}`} close={close} isWide>
      <p className="lead">
        A new run with everything up to turn {turn}, then live from there. {feed.run} stays as it is.
      </p>
      <Edits view={view} edits={edits} change={change} />
      <div className="actions">
        <button
          type="button"
          className="button"
          onClick={() => change([...edits, { kind: "artifact", name: "", value: "" }])}
        >
          Add an edit
        </button>
        <label className="check">
          <input type="checkbox" checked={isReset} onChange={(event) => setReset(event.target.checked)} />
          begin the budgets anew
        </label>
      </div>
      {plan !== undefined && <Plan plan={plan} />}
      {problem !== undefined && (
        <p className="problem" role="alert">
          {visible(problem)}
        </p>
      )}
      <div className="actions end">
        <CopyButton text={() => commandFor(feed.run, turn, edits)}>Copy command</CopyButton>
        <button type="button" className="button" onClick={() => void preview()}>
          Preview
        </button>
        <button type="button" className="button primary" onClick={() => void run()}>
          Fork and run
        </button>
      </div>
    </Dialog>
  );
}

interface EditsProps {
  readonly view: RunView;
  readonly edits: readonly Edit[];
  readonly change: (edits: readonly Edit[]) => void;
}

function Edits({ view, edits, change }: EditsProps) {
  return (
    <ul className="edits">
      {edits.map((edit, index) => (
        <li key={index}>
          <EditRow
            view={view}
            edit={edit}
            change={(next) => change(edits.map((one, at) => (at === index ? next : one)))}
            remove={() => change(edits.filter((_, at) => at !== index))}
          />
        </li>
      ))}
    </ul>
  );
}

function sentEdit({ kind, name, value }: Edit): Readonly<Record<string, unknown>> {
  switch (kind) {
    case "artifact":
      return { artifact: name, value: valueIn(value) };
    case "variable":
      return { variable: name, value: valueIn(value) };
    case "event":
      return { event: value };
    case "answer":
      return { step: Number(name), value: valueIn(value) };
    case "model":
      return { model: value };
    case "pack":
      return { pack: value };
  }
}

function commandFor(run: string, turn: number, edits: readonly Edit[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const flags = edits.flatMap(({ kind, name, value }) => {
    if (kind === "artifact") return [`--set ${quoted(`artifact.${name}=${value}`)}`];
    if (kind === "variable") return [`--var ${quoted(`${name}=${value}`)}`];
    if (kind === "event") return [`--event ${quoted(value)}`];
    return kind === "model" ? [`--model ${quoted(value)}`] : [];
  });
  return ["packloop fork", `${run}@${turn}`, ...flags].join(" ");
}

function Plan({ plan }: { readonly plan: ForkView }) {
  const tools = plan.calls.filter(({ kind }) => kind !== "model").length;
  return (
    <section className="card plan" aria-label="What the fork would do">
      <p>
        It begins in <strong>{visible(plan.state ?? "no state")}</strong> and first makes{" "}
        {plan.calls.length === 0
          ? "no call"
          : plan.calls.length === 1
            ? "one call"
            : `${plan.calls.length} calls`}
        {tools > 0 && `, ${tools} of tools`}
        {plan.waiting_for.length > 0 &&
          `; it waits for ${plan.waiting_for.map(({ kind }) => kind.replace("_", " ")).join(", ")}`}
        .
      </p>
      <ul className="plain-list">
        {plan.calls.map((call) => (
          <li key={call.step}>
            {call.kind === "model"
              ? `model, prompt ${visible(call.prompt)}`
              : `${call.kind} ${visible(call.tool ?? "")}`}
            {call.args !== undefined && <TextView text={cutValue(call.args)} label="Arguments" />}
          </li>
        ))}
      </ul>
    </section>
  );
}
