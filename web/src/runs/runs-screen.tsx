// All runs, the newest first. What is filtered by stands in the address.

import { useEffect, useRef, useState } from "react";
import type { Status } from "../../../src/core/facts.ts";
import type { RunLine } from "../../../src/host/run-line.ts";
import { ask } from "../api.ts";
import { age, clock, count, shortDigest, visible } from "../part/format.ts";
import { useKeys } from "../part/keys.ts";
import { Link } from "../part/link.tsx";
import { Empty, Failed, Loading } from "../part/notices.tsx";
import { StatusChip } from "../part/status-chip.tsx";
import { useAsked, useNow } from "../part/use-asked.ts";
import { useChanges } from "../part/use-changes.ts";
import { goWith, packHref, runHref, usePlace } from "../route.ts";

interface RunPage {
  readonly items: readonly RunLine[];
  readonly next_cursor: string | null;
}

const STATUSES: readonly Status[] = [
  "running",
  "waiting",
  "completed",
  "budget_exhausted",
  "failed",
  "cancelled",
];
const PAGE = 50;

export function RunsScreen() {
  const { query } = usePlace();
  const filter = filterOf(query);
  const round = useChanges();
  const first = useAsked<RunPage>(`${filter} ${round}`, () => ask<RunPage>(`/api/runs?${filter}`));
  const [more, setMore] = useState<{ readonly filter: string; readonly pages: readonly RunPage[] }>();
  const pages = more?.filter === filter ? more.pages : [];
  const items = [...(first.value?.items ?? []), ...pages.flatMap((page) => page.items)];
  const next = (pages.at(-1) ?? first.value)?.next_cursor ?? null;
  const loadMore = async (): Promise<void> => {
    const page = await ask<RunPage>(`/api/runs?${filter}&cursor=${encodeURIComponent(next ?? "")}`);
    setMore({ filter, pages: [...pages, page] });
  };
  return (
    <div className="screen">
      <div className="screen-head">
        <h1>Runs</h1>
        <Filters query={query} />
      </div>
      {first.error !== undefined && <Failed error={first.error} again={first.again} />}
      {first.value === undefined && first.error === undefined && <Loading lines={8} label="Loading runs" />}
      {first.value !== undefined && items.length === 0 && <NoRuns isFiltered={query.size > 0} />}
      {items.length > 0 && <RunTable items={items} />}
      {next !== null && (
        <p className="more">
          <button type="button" className="button" onClick={() => void loadMore()}>
            Show more
          </button>
        </p>
      )}
    </div>
  );
}

function filterOf(query: URLSearchParams): string {
  const sent = new URLSearchParams({ limit: String(PAGE) });
  for (const name of ["text", "status", "pack"]) {
    const value = query.get(name);
    if (value !== null && value !== "") sent.set(name, value);
  }
  if (query.get("agents") !== "all") sent.set("parent", "");
  return sent.toString();
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  const search = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(query.get("text") ?? "");
  useKeys({ "/": () => search.current?.focus() });
  useEffect(() => {
    const timer = setTimeout(() => goWith({ text }, { replace: true }), 200);
    return () => clearTimeout(timer);
  }, [text]);
  const chosen = (query.get("status") ?? "").split(",").filter((one) => one !== "");
  const toggle = (status: string): void => {
    const next = chosen.includes(status) ? chosen.filter((one) => one !== status) : [...chosen, status];
    goWith({ status: next.join(",") });
  };
  return (
    <div className="filters">
      <input
        ref={search}
        type="search"
        aria-label="Search runs"
        placeholder="run, pack, state or reason"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="segments" role="group" aria-label="Status">
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            aria-pressed={chosen.includes(status)}
            onClick={() => toggle(status)}
          >
            {status.replace("_", " ")}
          </button>
        ))}
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={query.get("agents") === "all"}
          onChange={(event) => goWith({ agents: event.target.checked ? "all" : undefined })}
        />
        agents' runs
      </label>
      {query.get("pack") !== null && (
        <button type="button" className="filter" onClick={() => goWith({ pack: undefined })}>
          {visible(query.get("pack") ?? "")} <span aria-hidden="true">×</span>
          <span className="unseen"> show all packs</span>
        </button>
      )}
    </div>
  );
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No run fits">
        <Link to="/">Show all runs</Link>
      </Empty>
    );
  return (
    <Empty title="No runs yet">
      Start one with <code>packloop run PACK</code>; it appears here by itself.
    </Empty>
  );
}

function RunTable({ items }: { readonly items: readonly RunLine[] }) {
  const now = useNow();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Runs">
      <table className="plain runs">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Run</th>
            <th scope="col">State</th>
            <th scope="col">Pack</th>
            <th scope="col">Reason</th>
            <th scope="col" className="right">
              Visits
            </th>
            <th scope="col" className="right">
              Turns
            </th>
            <th scope="col" className="right">
              Changed
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.run}>
              <td>
                <StatusChip status={item.status} />
              </td>
              <th scope="row">
                <Link to={runHref(item.run)} className="mono">
                  {item.run}
                </Link>
              </th>
              <td>{visible(item.state ?? "—")}</td>
              <td>
                <Link to={packHref(item.pack.digest)} title={item.pack.digest}>
                  {visible(item.pack.id)} {visible(item.pack.version)}
                </Link>{" "}
                <span className="mono faint small">{shortDigest(item.pack.digest)}</span>
              </td>
              <td className="faint">{visible(item.reason ?? "")}</td>
              <td className="right numbers">{count(item.visits)}</td>
              <td className="right numbers">{count(item.turns)}</td>
              <td className="right numbers" title={clock(Date.parse(item.updated_at))}>
                {age(Date.parse(item.updated_at), now)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
