// Whether a person can be asked something: somebody reads and types, and --no-input was not given.

/** Set by `--no-input`, which is taken from every command line before its command sees it. */
export const NO_INPUT = "PACKLOOP_NO_INPUT";

export function mayAsk(): boolean {
  const isForbidden = (process.env[NO_INPUT] ?? "") !== "";
  return process.stdin.isTTY && process.stderr.isTTY && !isForbidden;
}
