// Paths with repetition folded: plan → (implement → test)×10 → review.

/** Longest block of states looked for; the workflows people write repeat short ones. */
const BLOCK_MAX = 8;

export function foldPath(states: readonly string[]): string {
  return foldedParts(states).join(" → ");
}

/** The states and folded blocks of a path, in order. */
export function foldedParts(states: readonly string[]): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < states.length; ) {
    const { size, times } = bestBlock(states, at);
    if (times > 1) {
      const block = states.slice(at, at + size).join(" → ");
      parts.push(size === 1 ? `${block}×${times}` : `(${block})×${times}`);
      at += size * times;
    } else {
      parts.push(states[at] as string);
      at += 1;
    }
  }
  return parts;
}

/** The repetition at `at` that covers most states; the shortest block of those. */
function bestBlock(states: readonly string[], at: number): { size: number; times: number } {
  let best = { size: 1, times: 1 };
  for (let size = 1; size <= BLOCK_MAX; size++) {
    let times = 1;
    while (repeats(states, at, { size, times })) times++;
    if (times > 1 && size * times > best.size * best.times) best = { size, times };
  }
  return best;
}

function repeats(
  states: readonly string[],
  at: number,
  { size, times }: { size: number; times: number },
): boolean {
  const from = at + size * times;
  if (from + size > states.length) return false;
  for (let i = 0; i < size; i++) if (states[from + i] !== states[at + i]) return false;
  return true;
}
