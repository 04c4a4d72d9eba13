// An error and what caused it: libraries wrap what went wrong, and what matters may be at any depth.

const DEPTH_MAX = 5;

/** The outermost first, at most five deep. */
export function errorChain(error: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let one = error; one !== undefined && one !== null && found.length < DEPTH_MAX; ) {
    found.push(one);
    one = one instanceof Error ? one.cause : undefined;
  }
  return found;
}
