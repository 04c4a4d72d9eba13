// Patterns of variables as regular expressions. Authors write for several engines, so what can be said in
// ours with the same meaning is translated: leading flags, and groups named as Python and RE2 name them.

type Compiled =
  | { readonly ok: true; readonly expression: RegExp }
  | { readonly ok: false; readonly problem: string };

export function compilePattern(pattern: string): Compiled {
  const leading = /^\(\?([ims]+)\)/.exec(pattern);
  const flags = [...new Set(leading?.[1] ?? "")].join("");
  const source = pattern.slice(leading?.[0].length ?? 0).replaceAll("(?P<", "(?<");
  const strict = attempt(source, `${flags}u`);
  if (strict.ok) return strict;
  // Without the flag, needless escapes such as `\-` are let through, as in most other engines.
  const loose = attempt(source, flags);
  return loose.ok ? loose : { ok: false, problem: loose.problem };
}

function attempt(source: string, flags: string): Compiled {
  try {
    return { ok: true, expression: new RegExp(source, flags) };
  } catch (error) {
    return { ok: false, problem: problemOf(error instanceof Error ? error.message : "") };
  }
}

/** The last clause of the engine's message: the ones before it repeat the pattern. */
function problemOf(message: string): string {
  const clause = /: ([^:]+)$/.exec(message)?.[1] ?? "it does not compile";
  return clause.slice(0, 1).toLowerCase() + clause.slice(1);
}
