// All runs, the newest first. What is filtered by stands in the address.

import { useState } from "react";
import type { RunLine } from "../../../src/host/run-line.ts";
import { ApiError, ask } from "../api.ts";
import { Link } from "../part/link.tsx";
import { Empty, Failed, Loading } from "../part/notices.tsx";
import { useAsked } from "../part/use-asked.ts";
import { useChanges } from "../part/use-changes.ts";
import { usePlace } from "../route.ts";
import { filterOf, isFiltered, RunFilters } from "./run-filters.tsx";
import { RunTable } from "./run-table.tsx";

interface RunPage {
  readonly items: readonly RunLine[];
  readonly next_cursor: string | null;
}

const PAGE = 50;

/** The server looks at some runs for a page, and may find none; so often the screen goes on by itself. */
const EMPTY_PAGES = 20;

async function pageOf(filter: string, cursor: string | null): Promise<RunPage> {
  let next = cursor;
  for (let page = 1; ; page++) {
    const found = await ask<RunPage>(
      `/api/runs?${filter}${next === null ? "" : `&cursor=${encodeURIComponent(next)}`}`,
    );
    next = found.next_cursor;
    if (found.items.length > 0 || next === null || page === EMPTY_PAGES) return found;
  }
}

export function RunsScreen() {
  const { query } = usePlace();
  const filter = filterOf(query, PAGE);
  const round = useChanges();
  const first = useAsked<RunPage>(`${filter} ${round}`, () => pageOf(filter, null));
  const [more, setMore] = useState<{ readonly filter: string; readonly pages: readonly RunPage[] }>();
  const pages = more?.filter === filter ? more.pages : [];
  const items = [...(first.value?.items ?? []), ...pages.flatMap((page) => page.items)];
  const next = (pages.at(-1) ?? first.value)?.next_cursor ?? null;
  const [failed, setFailed] = useState<Error>();
  const loadMore = (): void => {
    setFailed(undefined);
    pageOf(filter, next).then(
      (page) => setMore({ filter, pages: [...pages, page] }),
      (cause: unknown) => setFailed(cause instanceof Error ? cause : new Error(String(cause))),
    );
  };
  const { error } = first;
  const isWrong = error instanceof ApiError && error.code === "bad-request";
  return (
    <div className="screen">
      <div className="screen-head">
        <h1>Runs</h1>
        <RunFilters query={query} problem={isWrong ? error.message : undefined} />
      </div>
      {error !== undefined && !isWrong && <Failed error={error} again={first.again} />}
      {first.value === undefined && error === undefined && <Loading lines={8} label="Loading runs" />}
      {first.value !== undefined && items.length === 0 && (
        <NoRuns isNarrowed={isFiltered(query)} goesOn={next !== null} />
      )}
      {items.length > 0 && <RunTable items={items} />}
      {failed !== undefined && <Failed error={failed} again={loadMore} />}
      {next !== null && (
        <p className="more">
          <button type="button" className="button" onClick={loadMore}>
            {items.length === 0 ? "Look among older runs" : "Show more"}
          </button>
        </p>
      )}
    </div>
  );
}

interface NoRunsProps {
  readonly isNarrowed: boolean;
  /** Older runs were not looked at yet. */
  readonly goesOn: boolean;
}

function NoRuns({ isNarrowed, goesOn }: NoRunsProps) {
  if (isNarrowed)
    return (
      <Empty title={goesOn ? "No run fits among the newest" : "No run fits"}>
        <Link to="/">Show all runs</Link>
      </Empty>
    );
  return (
    <Empty title="No runs yet">
      Start one with <code>packloop run PACK</code>; it appears here by itself.
    </Empty>
  );
}
