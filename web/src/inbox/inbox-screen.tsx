// Everything that waits for a person, who has waited longest first.

import { useEffect, useState } from "react";
import type { InboxItem } from "../../../src/host/inbox.ts";
import { ask } from "../api.ts";
import { count, visible } from "../part/format.ts";
import { Empty, Failed, Loading } from "../part/notices.tsx";
import { useAsked } from "../part/use-asked.ts";
import { useChanges } from "../part/use-changes.ts";
import { AskCard } from "./ask-card.tsx";

interface InboxPage {
  readonly items: readonly InboxItem[];
  readonly notices: readonly { readonly webhook: string; readonly url: string; readonly why: string }[];
  readonly next_cursor: string | null;
}

const keyOf = ({ run, step }: InboxItem): string => `${run} ${step}`;

/** All pages up to this one: what is decided meanwhile moves the others up. */
async function pagesOf(pages: number): Promise<InboxPage> {
  let page = await ask<InboxPage>("/api/inbox");
  for (let read = 1; read < pages && page.next_cursor !== null; read++) {
    const next = await ask<InboxPage>(`/api/inbox?cursor=${encodeURIComponent(page.next_cursor)}`);
    page = { ...next, items: [...page.items, ...next.items], notices: page.notices };
  }
  return page;
}

export function InboxScreen() {
  const round = useChanges();
  const [pages, setPages] = useState(1);
  const asked = useAsked<InboxPage>(`inbox ${round} ${pages}`, () => pagesOf(pages));
  const { value, error, isLoading, again } = asked;
  const shown = useKept(value?.items);
  const first = shown.find(({ item, isGone }) => !isGone && item.kind === "approval");
  return (
    <div className="screen narrow-screen">
      <div className="screen-head">
        <h1>Inbox</h1>
        {value !== undefined && (
          <span className="faint numbers">
            {count(value.items.length)}
            {value.next_cursor === null ? "" : " or more"} waiting
          </span>
        )}
      </div>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading lines={6} label="Loading the inbox" />}
      {value?.notices.map((notice) => (
        <p key={notice.webhook} className="problem">
          The webhook {visible(notice.url)} is told nothing any more: {visible(notice.why)}
        </p>
      ))}
      {value !== undefined && shown.length === 0 && (
        <Empty title="Nothing waits for you">
          Approvals, questions and calls in doubt appear here by themselves.
        </Empty>
      )}
      {shown.map(({ item, isGone }) => (
        <AskCard key={keyOf(item)} item={item} isFirst={item === first?.item} isGone={isGone} stale={again} />
      ))}
      {typeof value?.next_cursor === "string" && (
        <p className="more">
          <button
            type="button"
            className="button"
            disabled={isLoading}
            onClick={() => setPages((before) => before + 1)}
          >
            Show more
          </button>
        </p>
      )}
    </div>
  );
}

interface Kept {
  readonly item: InboxItem;
  readonly isGone: boolean;
}

/** What was decided stays, as a line that says so, until the screen is left. */
function useKept(items: readonly InboxItem[] | undefined): readonly Kept[] {
  const [kept, setKept] = useState<readonly Kept[]>([]);
  useEffect(() => {
    if (items === undefined) return;
    setKept((before) => {
      const now = new Map(items.map((item) => [keyOf(item), item]));
      const known = new Set(before.map(({ item }) => keyOf(item)));
      const added = items.filter((item) => !known.has(keyOf(item)));
      return [
        ...before.map(({ item }) => ({ item: now.get(keyOf(item)) ?? item, isGone: !now.has(keyOf(item)) })),
        ...added.map((item) => ({ item, isGone: false })),
      ];
    });
  }, [items]);
  return kept;
}
