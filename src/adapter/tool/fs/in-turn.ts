// Work one piece after the other. Calls of one response run side by side, but a model means them in their
// order: two edits of a file are both in it at the end, and tests see what was written before them.

const lastByName = new Map<string, Promise<unknown>>();

/** Takes its turn among the calls of the run in its workspace; to be called before anything is awaited. */
export const inRunOrder = <T>(run: string, work: () => Promise<T>): Promise<T> => inTurn(`run ${run}`, work);

/** Keeps runs apart that share a workspace. */
export const inWorkspaceTurn = <T>(workspace: string, work: () => Promise<T>): Promise<T> =>
  inTurn(`in ${workspace}`, work);

async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = lastByName.get(name);
  const mine = (async () => {
    // Whoever waits for the piece before is told how it went; here only its end matters.
    if (before !== undefined) await before.catch(() => undefined);
    return await work();
  })();
  lastByName.set(name, mine);
  try {
    return await mine;
  } finally {
    if (lastByName.get(name) === mine) lastByName.delete(name);
  }
}
