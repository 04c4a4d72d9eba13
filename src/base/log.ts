// An append-only list that shares its storage: appending costs one cell however long the list is, and every
// older list keeps reading as it was. Conversations and append artifacts of long runs depend on it.

export interface Log<T> {
  readonly length: number;
  /** Storage that may hold more than this list's items; only the first `length` belong to it. */
  readonly cells: T[];
}

export const emptyLog = <T>(): Log<T> => ({ length: 0, cells: [] });

export function append<T>(log: Log<T>, item: T): Log<T> {
  // Another list may have grown from the same one (a fork, a look at the past): it owns the cells behind us.
  const cells = log.cells.length === log.length ? log.cells : log.cells.slice(0, log.length);
  cells.push(item);
  return { length: log.length + 1, cells };
}

export function itemsOf<T>(log: Log<T>): readonly T[] {
  return log.cells.length === log.length ? log.cells : log.cells.slice(0, log.length);
}

export const logOf = <T>(items: readonly T[]): Log<T> => ({ length: items.length, cells: [...items] });
