// A finding's three clauses (what, why, what to do) as running text.

import type { Diagnostic } from "../../pack/diagnostic.ts";

/** For formats that show one line: what is wrong and what to do. */
export function statement({ message, help }: Diagnostic): string {
  return `${message} — ${help}`;
}

/** For formats with room: three sentences. */
export function sentences({ message, why, help }: Diagnostic): string {
  return [message, why, help]
    .filter((clause) => clause !== "")
    .map(sentence)
    .join(" ");
}

/** A clause that begins with a field name such as `max_visits` keeps its spelling. */
export function sentence(clause: string): string {
  const first = /^[a-z]+(?=[ ,;:]|$)/.exec(clause)?.[0] ?? "";
  const start = first.slice(0, 1).toUpperCase() + clause.slice(Math.min(1, first.length));
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
