// Several things of one kind, each asked for by its name.

import { useEffect, useState } from "react";

/** Something for each name, asked for anew in every round; what was there stays until then. */
export function useMany<T>(
  names: readonly string[],
  load: (name: string) => Promise<T>,
  round: number,
): ReadonlyMap<string, T> {
  const [found, setFound] = useState<ReadonlyMap<string, T>>(new Map());
  const key = names.join(" ");
  const take = (name: string, value: T): void => setFound((before) => new Map(before).set(name, value));
  useEffect(() => {
    let isCurrent = true;
    const leave = (): void => {
      isCurrent = false;
    };
    for (const name of names) {
      const asked = load(name).then((value) => (isCurrent ? take(name, value) : undefined));
      // A run that was removed, or a server that is away: the line stays without it.
      asked.catch(() => undefined);
    }
    return leave;
  }, [key, round]);
  return found;
}
