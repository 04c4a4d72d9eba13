// The environment of a program we start: what programs need to run at all, and what is named. Nothing else,
// so that keys in our own environment stay here.

const ALWAYS = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"];

export function handedOn(
  names: readonly string[],
  env: (name: string) => string | undefined,
): Readonly<Record<string, string>> {
  const handed: Record<string, string> = {};
  for (const name of [...ALWAYS, ...names]) {
    const value = env(name);
    if (value !== undefined) handed[name] = value;
  }
  return handed;
}
