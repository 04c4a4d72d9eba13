// A number that grows when any run moves, at most once a second.

import { useEffect, useState } from "react";

export function useChanges(isOn = true): number {
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const source = new EventSource("/api/stream");
    let timer: ReturnType<typeof setTimeout> | undefined;
    const change = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setRound((before) => before + 1);
      }, 1_000);
    };
    source.addEventListener("turn", change);
    // Whatever happened meanwhile is looked for when the connection is back.
    source.addEventListener("open", change);
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [isOn]);
  return round;
}
