// Where edges touch a box. Lines that meet one side are spread over it in the order of where they go, so that
// arrowheads never lie on each other and lines do not cross at the box.

/** The space two neighbouring ends like to have. */
const GAP = 18;

interface Side {
  readonly left: number;
  readonly right: number;
}

/**
 * For each end, where it would like to be; in the same order, where it is. A single end goes straight to its
 * wish when the side allows it.
 */
export function placeEnds(side: Side, wishes: readonly number[]): readonly number[] {
  const width = side.right - side.left;
  const gap = wishes.length > 1 ? Math.min(GAP, width / (wishes.length - 1)) : 0;
  const order = wishes
    .map((_, index) => index)
    .sort((a, b) => (wishes[a] as number) - (wishes[b] as number) || a - b);
  const placed = [...wishes];
  let least = side.left;
  for (const index of order) {
    const at = Math.max(least, Math.min(wishes[index] as number, side.right));
    placed[index] = at;
    least = at + gap;
  }
  // Going back from the right makes room for ends that were pushed over the edge.
  let most = side.right;
  for (const index of order.reverse()) {
    const at = Math.min(placed[index] as number, most);
    placed[index] = at;
    most = at - gap;
  }
  return placed;
}
