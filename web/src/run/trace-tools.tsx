// What can be done with the trace: choose columns, see one state only, copy it.

import { useState } from "react";
import type { TraceFormat } from "../../../src/core/trace-text.ts";
import { CopyButton } from "../part/copy-button.tsx";
import { count, visible } from "../part/format.ts";
import { goWith } from "../route.ts";
import { wordOf } from "./shell-word.ts";
import { type Columns, FIXED, FIXED_COLUMNS, hiddenIn, keyOfArtifact, keyOfFixed } from "./trace-columns.ts";
import type { RunView } from "./use-run.ts";

interface ToolsProps {
  readonly view: RunView;
  /** All artifacts, and the columns that are shown. */
  readonly all: readonly string[];
  readonly columns: Columns;
  readonly only: string | null;
}

export function TraceTools({ view, all, columns, only }: ToolsProps) {
  const { names } = columns;
  return (
    <header className="panel-head">
      <h2>Trace</h2>
      <span className="faint numbers">
        {count(view.state.visitCount)} {view.state.visitCount === 1 ? "visit" : "visits"}
      </span>
      {only !== null && (
        <button type="button" className="filter" onClick={() => goWith({ state: undefined })}>
          {visible(only)} <span aria-hidden="true">×</span>
          <span className="unseen"> show all states</span>
        </button>
      )}
      <span className="grow" />
      <ColumnMenu query={view.query} all={all} />
      <CopyMenu run={view.feed.run} columns={names.length === all.length ? undefined : names} />
    </header>
  );
}

const FORMATS: Readonly<Partial<Record<TraceFormat, string>>> = { md: "Markdown", csv: "CSV", json: "JSON" };

interface CopyProps {
  readonly run: string;
  /** Undefined for all of them. */
  readonly columns: readonly string[] | undefined;
}

/** Byte for byte what the command prints. */
function CopyMenu({ run, columns }: CopyProps) {
  return (
    <details className="menu">
      <summary className="button quiet">Copy</summary>
      <div className="menu-body">
        {Object.entries(FORMATS).map(([format, name]) => (
          <CopyButton
            key={format}
            title={commandFor(run, format, columns)}
            text={() => textFor(run, format as TraceFormat, columns)}
          >
            {name}
          </CopyButton>
        ))}
      </div>
    </details>
  );
}

function commandFor(run: string, format: string, columns: readonly string[] | undefined): string {
  const chosen = columns === undefined ? "" : ` --columns ${wordOf(columns.join(","))}`;
  return `packloop trace ${wordOf(run)} --format ${format}${chosen}`;
}

async function textFor(
  run: string,
  format: TraceFormat,
  columns: readonly string[] | undefined,
): Promise<string> {
  const [{ traceText }, { traceRows }] = await Promise.all([
    import("../../../src/core/trace-text.ts"),
    import("./trace-rows.ts"),
  ]);
  return traceText(await traceRows(run), format, columns === undefined ? {} : { columns });
}

interface ColumnProps {
  readonly query: URLSearchParams;
  readonly all: readonly string[];
}

function ColumnMenu({ query, all }: ColumnProps) {
  const [isOpen, setOpen] = useState(false);
  const hidden = hiddenIn(query);
  const toggle = (key: string): void => {
    const next = hidden.includes(key) ? hidden.filter((one) => one !== key) : [...hidden, key];
    goWith({ hide: next.length === 0 ? undefined : next.join(",") }, { replace: true });
  };
  const entries = [
    ...all.map((name) => [keyOfArtifact(name), visible(name)] as const),
    ...FIXED_COLUMNS.map((column) => [keyOfFixed(column), FIXED[column]] as const),
  ];
  return (
    <details className="menu" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="button quiet">Columns</summary>
      <div className="menu-body">
        {(isOpen ? entries : []).map(([key, name]) => (
          <label key={key} className="check">
            <input type="checkbox" checked={!hidden.includes(key)} onChange={() => toggle(key)} />
            {name}
          </label>
        ))}
      </div>
    </details>
  );
}
