// What the simulator says when something that must hold does not.

export function claim(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}
