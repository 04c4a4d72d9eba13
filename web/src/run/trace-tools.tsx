// What can be done with the trace: choose columns, see one state only, copy it.

import { ask, runPath } from "../api.ts";
import { embeddedRun } from "../export/embedded-run.ts";
import { CopyButton } from "../part/copy-button.tsx";
import { count, visible } from "../part/format.ts";
import { goWith } from "../route.ts";
import type { RunView } from "./use-run.ts";

interface ToolsProps {
  readonly view: RunView;
  readonly names: readonly string[];
  readonly only: string | null;
}

export function TraceTools({ view, names, only }: ToolsProps) {
  const { state, feed } = view;
  return (
    <header className="panel-head">
      <h2>Trace</h2>
      <span className="faint numbers">{count(state.visitCount)} visits</span>
      {only !== null && (
        <button type="button" className="filter" onClick={() => goWith({ state: undefined })}>
          {visible(only)} <span aria-hidden="true">×</span>
          <span className="unseen"> show all states</span>
        </button>
      )}
      <span className="grow" />
      <ColumnMenu view={view} names={names} />
      {embeddedRun() === undefined && (
        <CopyButton text={() => traceJson(feed.run)} title={`packloop trace ${feed.run} --format json`}>
          Copy JSON
        </CopyButton>
      )}
    </header>
  );
}

/** As `packloop trace --format json` prints it. */
async function traceJson(run: string): Promise<string> {
  return `${JSON.stringify(await ask(`${runPath(run)}/trace?limit=10000`), null, 2)}\n`;
}

function ColumnMenu({ view, names }: { readonly view: RunView; readonly names: readonly string[] }) {
  const last = view.state.visits.get(view.state.visitCount - 1);
  const all = Object.keys(last?.cells ?? {});
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
