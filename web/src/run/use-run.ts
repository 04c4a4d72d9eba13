// What the run screen shows, from the address and the feed: the run, the turn that is looked at, and its
// moment.

import { useEffect, useState, useSyncExternalStore } from "react";
import type { Moment } from "../journal/journal-shapes.ts";
import { type FeedState, RunFeed } from "../journal/run-feed.ts";
import { type AskedValue, useAsked } from "../part/use-asked.ts";
import { goWith, usePlace } from "../route.ts";

export interface RunView {
  readonly feed: RunFeed;
  readonly state: FeedState;
  /** The turn that is looked at; the newest one while following. */
  readonly turn: number;
  readonly isFollowing: boolean;
  readonly moment: AskedValue<Moment>;
  readonly query: URLSearchParams;
  /** Undefined follows the newest. */
  readonly look: (turn: number | undefined) => void;
}

export function useRun(run: string): RunView | undefined {
  const feed = useFeed(run);
  const { query } = usePlace();
  const state = useSyncExternalStore(feed?.subscribe ?? noFeed, feed?.state ?? (() => undefined));
  const given = Number(query.get("turn") ?? "");
  const turns = state?.turns ?? 0;
  const isFollowing = !Number.isSafeInteger(given) || given < 1;
  const turn = isFollowing ? turns : Math.min(given, Math.max(1, turns));
  const isReady = feed !== undefined && turn >= 1;
  const moment = useAsked<Moment>(isReady ? `${run} ${turn}` : undefined, async () => {
    if (feed === undefined) throw new Error("the run is not open");
    return feed.questions.moment(turn);
  });
  if (feed === undefined || state === undefined) return undefined;
  const look = (next: number | undefined): void => {
    if (next === undefined) return goWith({ turn: undefined }, { replace: true });
    const bounded = Math.max(1, Math.min(next, turns));
    goWith({ turn: bounded }, { replace: true });
  };
  return { feed, state, turn, isFollowing, moment, query, look };
}

const noFeed = (): (() => void) => () => undefined;

/** Opened with the screen, closed with it. */
function useFeed(run: string): RunFeed | undefined {
  const [feed, setFeed] = useState<RunFeed>();
  useEffect(() => {
    const opened = new RunFeed(run);
    opened.begin();
    setFeed(opened);
    return () => opened.end();
  }, [run]);
  return feed;
}
