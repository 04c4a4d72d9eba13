// What the run screen shows, from the address and the feed: the run, the turn that is looked at, and its
// moment.

import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
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
  const { query } = usePlace();
  const feed = useFeed(run, turnIn(query));
  const state = useSyncExternalStore(feed?.subscribe ?? noFeed, feed?.state ?? (() => undefined));
  const given = turnIn(query);
  const turns = state?.turns ?? 0;
  const isFollowing = given === undefined;
  const [followed, setFollowed] = useState(0);
  const turn = isFollowing ? Math.min(followed, turns) || turns : Math.min(given, Math.max(1, turns));
  const isReady = feed !== undefined && turns >= 1;
  // What was shown from the turns around it is shown again when all turns before it are here.
  const isNear = turn > (state?.loaded ?? 0);
  const moment = useAsked<Moment>(
    isReady ? `${run} ${turn}${isNear ? " near" : ""}` : undefined,
    async () => {
      if (feed === undefined) throw new Error("the run is not open");
      return feed.questions.moment(turn);
    },
  );
  // The next turn is looked at when the one before is shown, however quickly they come.
  useEffect(() => {
    if (!isFollowing || !moment.isLoading) setFollowed(turns);
  }, [isFollowing, moment.isLoading, turns]);
  const look = useCallback(
    (next: number | undefined): void => {
      if (next === undefined) return goWith({ turn: undefined }, { replace: true });
      const last = feed?.state().turns ?? next;
      goWith({ turn: Math.max(1, Math.min(next, last)) }, { replace: true });
    },
    [feed],
  );
  if (feed === undefined || state === undefined) return undefined;
  return { feed, state, turn, isFollowing, moment, query, look };
}

function turnIn(query: URLSearchParams): number | undefined {
  const given = Number(query.get("turn") ?? "");
  return Number.isSafeInteger(given) && given >= 1 ? given : undefined;
}

const noFeed = (): (() => void) => () => undefined;

/** Opened with the screen, closed with it; `first` is the turn that is looked at then. */
function useFeed(run: string, first: number | undefined): RunFeed | undefined {
  const [feed, setFeed] = useState<RunFeed>();
  useEffect(() => {
    const opened = new RunFeed(run);
    opened.begin(first);
    setFeed(opened);
    return () => opened.end();
  }, [run]);
  return feed;
}
