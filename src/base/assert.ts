/** A broken promise of our own code. Never about user input: that gets a diagnostic or a refusal. */
export class Defect extends Error {
  override readonly name = "Defect";
}

/** States an invariant. `message` says what must hold, in words a bug report can quote. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Defect(message);
}

/** The value, when the caller knows it is there and the type system cannot. */
export function must<T>(value: T | undefined | null, message: string): T {
  assert(value !== undefined && value !== null, message);
  return value;
}
