// Something that is asked for and comes later. What was there stays until the new answer is, so that nothing
// flickers on the way.

import { useCallback, useEffect, useState } from "react";

export interface AskedValue<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly isLoading: boolean;
  /** Asks again. */
  readonly again: () => void;
}

/** `key` names what is asked; nothing is asked while it is undefined. */
export function useAsked<T>(key: string | undefined, request: () => Promise<T>): AskedValue<T> {
  const [known, setKnown] = useState<{ key: string; value?: T; error?: Error }>();
  const [round, setRound] = useState(0);
  const again = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (key === undefined) return undefined;
    let isCurrent = true;
    request().then(
      (value) => isCurrent && setKnown({ key, value }),
      (error: unknown) =>
        isCurrent && setKnown({ key, error: error instanceof Error ? error : new Error(String(error)) }),
    );
    return () => {
      isCurrent = false;
    };
    // The request is the one of the key.
  }, [key, round]);
  return {
    value: known?.value,
    error: known?.error,
    isLoading: key !== undefined && known?.key !== key,
    again,
  };
}

/** The time, for ages: it moves twice a minute. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
