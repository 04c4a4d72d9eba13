// "Did you mean …?" A wrong guess is worse than none, so the distance is small and the answer unique.

/** Longer names are not compared: a guess at them would not fit on a line. */
const LENGTH_MAX = 100;

/** The one known name close to `wrong`: distance 2, or 1 for names under five letters. */
export function suggest(wrong: string, known: Iterable<string>): string | undefined {
  if (wrong.length > LENGTH_MAX) return undefined;
  const limit = [...wrong].length < 5 ? 1 : 2;
  let best: string | undefined;
  let bestDistance = limit + 1;
  let tied = false;
  for (const name of known) {
    if (name === wrong || Math.abs(name.length - wrong.length) > limit) continue;
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase(), bestDistance);
    if (distance > bestDistance || distance > limit) continue;
    tied = distance === bestDistance;
    best = name;
    bestDistance = distance;
  }
  return tied ? undefined : best;
}

/** Insertions, deletions, substitutions and swaps of neighbours; gives up above `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  const left = [...a];
  const right = [...b];
  if (Math.abs(left.length - right.length) > limit) return limit + 1;
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    let rowMin = i;
    for (let j = 1; j <= right.length; j++) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1;
      let best = Math.min(
        (previous[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (previous[j - 1] as number) + cost,
      );
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        best = Math.min(best, (before[j - 2] as number) + 1);
      }
      row.push(best);
      rowMin = Math.min(rowMin, best);
    }
    if (rowMin > limit) return limit + 1;
    before = previous;
    previous = row;
  }
  return previous[right.length] as number;
}
