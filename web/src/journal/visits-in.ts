// How many visits there were: every one is a row of the trace.

export const visitsIn = (visits: Readonly<Record<string, number>>): number =>
  Object.values(visits).reduce((sum, count) => sum + count, 0);
