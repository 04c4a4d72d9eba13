// A fault hook for tests of durability, documented in CONTRIBUTING: `PACKLOOP_CRASH_AT=commit:3:before` (or
// `:after`) kills this process, as SIGKILL does, around the third turn it commits. Without the variable it
// does nothing.

/** Called on both sides of every commit. */
export type CrashPoint = (side: "before" | "after") => void;

export function crashPoint(setting: string | undefined): CrashPoint {
  const match = /^commit:(\d+):(before|after)$/.exec(setting ?? "");
  if (match === null) return () => undefined;
  const last = Number(match[1]);
  let commits = 0;
  return (side) => {
    if (side === "before") commits++;
    if (commits === last && side === match[2]) process.kill(process.pid, "SIGKILL");
  };
}
