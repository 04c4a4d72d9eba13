// Which run it is, how it stands at the turn that is looked at, and what can be done with it.

import type { Summary } from "../../../src/core/summary.ts";
import { embeddedRun } from "../export/embedded-run.ts";
import { ExportNote } from "../export/export-note.tsx";
import type { Live } from "../journal/journal-shapes.ts";
import { shortDigest, visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { StatusChip } from "../part/status-chip.tsx";
import { packHref, runHref } from "../route.ts";
import { RunMenu } from "./run-menu.tsx";
import type { RunView } from "./use-run.ts";

interface HeaderProps {
  readonly view: RunView;
  readonly summary: Summary;
  readonly open: (dialog: "fork" | "compare") => void;
}

export function RunHeader({ view, summary, open }: HeaderProps) {
  const shown = view.moment.value?.summary ?? summary;
  const embedded = embeddedRun();
  const isExport = embedded !== undefined;
  return (
    <header className="run-head">
      <Ancestors run={view.feed.run} />
      <div className="run-title">
        <h1 className="mono">{visible(lastPart(view.feed.run))}</h1>
        <StatusChip status={shown.status} />
        {shown.held !== null && <span className="chip off">held by {visible(shown.held.by)}</span>}
        {shown.state !== null && <span className="state-name">{visible(shown.state)}</span>}
        <Reason summary={shown} />
        <LiveMark live={view.state.live} loaded={view.state.loaded} turns={view.state.turns} />
      </div>
      <div className="run-facts">
        {isExport ? (
          <span>
            {visible(summary.pack.id)} {visible(summary.pack.version)}
          </span>
        ) : (
          <Link to={packHref(shown.pack.digest)}>
            {visible(summary.pack.id)} {visible(summary.pack.version)}
          </Link>
        )}
        <span className="mono faint" title={shown.pack.digest}>
          {shortDigest(shown.pack.digest)}
        </span>
        {summary.forked_from !== null && (
          <span>
            forked from <Origin origin={summary.forked_from} isLink={!isExport} />
          </span>
        )}
      </div>
      <div className="run-actions">
        {!isExport && (
          <>
            <button type="button" className="button" onClick={() => open("fork")}>
              Fork from here
            </button>
            <button type="button" className="button" onClick={() => open("compare")}>
              Compare
            </button>
          </>
        )}
        <RunMenu view={view} summary={shown} />
      </div>
      {embedded !== undefined && <ExportNote embedded={embedded} run={view.feed.run} />}
    </header>
  );
}

interface OriginProps {
  readonly origin: NonNullable<Summary["forked_from"]>;
  /** A file does not hold the run that its run was forked from. */
  readonly isLink: boolean;
}

function Origin({ origin: { run, turn }, isLink }: OriginProps) {
  const name = `${visible(run)}@${turn}`;
  if (!isLink) return <span className="mono">{name}</span>;
  return (
    <Link to={runHref(run, { turn })} className="mono">
      {name}
    </Link>
  );
}

const lastPart = (run: string): string => {
  const at = run.lastIndexOf("/");
  return at === -1 ? run : run.slice(at + 1);
};

/** An agent's run is named after the step that called it. */
function Ancestors({ run }: { readonly run: string }) {
  const parts = run.split("/");
  if (parts.length === 1) return null;
  return (
    <nav aria-label="Callers" className="crumbs">
      {parts.slice(0, -1).map((part, index) => {
        const id = parts.slice(0, index + 1).join("/");
        return (
          <span key={id}>
            <Link to={runHref(id)} className="mono">
              {index === 0 ? part : `step ${part}`}
            </Link>
            <span aria-hidden="true"> / </span>
          </span>
        );
      })}
    </nav>
  );
}

function Reason({ summary: { reason } }: { readonly summary: Summary }) {
  if (reason === null) return null;
  const limit =
    reason.limit === undefined
      ? ""
      : `${reason.limit === reason.code ? "" : ` ${reason.limit}`}${reason.value === undefined ? "" : ` ${reason.value}`}`;
  return (
    <span className="reason">
      {reason.code}
      {limit}
      {reason.message !== undefined && reason.message !== "" && `: ${visible(reason.message.slice(0, 300))}`}
    </span>
  );
}

function LiveMark({
  live,
  loaded,
  turns,
}: {
  readonly live: Live;
  readonly loaded: number;
  readonly turns: number;
}) {
  if (live === "ended") return null;
  if (live === "lost")
    return (
      <span className="chip fail" role="status">
        connection lost, trying again
      </span>
    );
  if (loaded < turns)
    return (
      <span className="faint numbers" role="status">
        reading {Math.floor((loaded / Math.max(1, turns)) * 100)} %
      </span>
    );
  return <span className="live">live</span>;
}
