// What can be done with the trace: choose columns, see one state only, copy it.

import type { TraceFormat } from "../../../src/core/trace-text.ts";
import { CopyButton } from "../part/copy-button.tsx";
import { count, visible } from "../part/format.ts";
import { goWith } from "../route.ts";
import { wordOf } from "./shell-word.ts";
import type { RunView } from "./use-run.ts";

interface ToolsProps {
  readonly view: RunView;
  /** All artifacts, and those that are shown. */
  readonly all: readonly string[];
  readonly names: readonly string[];
  readonly only: string | null;
}

export function TraceTools({ view, all, names, only }: ToolsProps) {
  return (
    <header className="panel-head">
      <h2>Trace</h2>
      <span className="faint numbers">{count(view.state.visitCount)} visits</span>
      {only !== null && (
        <button type="button" className="filter" onClick={() => goWith({ state: undefined })}>
          {visible(only)} <span aria-hidden="true">×</span>
          <span className="unseen"> show all states</span>
        </button>
      )}
      <span className="grow" />
      <ColumnMenu all={all} names={names} />
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
  readonly all: readonly string[];
  readonly names: readonly string[];
}

function ColumnMenu({ all, names }: ColumnProps) {
  if (all.length < 2) return null;
  const toggle = (name: string): void => {
    const shown = names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
    const hidden = all.filter((one) => !shown.includes(one)).map((one) => encodeURIComponent(one));
    goWith({ hide: hidden.join(",") }, { replace: true });
  };
  return (
    <details className="menu">
      <summary className="button quiet">Columns</summary>
      <div className="menu-body">
        {all.map((name) => (
          <label key={name} className="check">
            <input type="checkbox" checked={names.includes(name)} onChange={() => toggle(name)} />
            {visible(name)}
          </label>
        ))}
      </div>
    </details>
  );
}
