// What is said about a pack, in the shapes of `packloop check --format json`.

import type { Diagnostic } from "../pack/diagnostic.ts";
import type { Bound } from "../pack/flow/bound.ts";

/** Written out, so that the order of the keys is part of the format and not of how a finding was made. */
export function diagnosticJson(diagnostic: Diagnostic) {
  const { code, severity, message, why, help, label, file, pointer, fix, data } = diagnostic;
  const { line, column, endLine, endColumn } = diagnostic;
  return {
    code,
    severity,
    message,
    why,
    help,
    label,
    file,
    line,
    column,
    endLine,
    endColumn,
    pointer,
    related: diagnostic.related.map((related) => ({
      message: related.message,
      file: related.file,
      line: related.line,
      column: related.column,
      pointer: related.pointer,
    })),
    fix: fix === null ? null : fixJson(fix),
    data,
  };
}

function fixJson({ applicability, title, edits }: NonNullable<Diagnostic["fix"]>) {
  return { applicability, title, edits: edits.map(({ start, end, text }) => ({ start, end, text })) };
}

/** The worst case of runs from one entry. */
export function boundJson(bound: Bound) {
  const { verdict, witness } = bound;
  const path = witness === null ? null : [...witness.prefix, ...witness.cycle];
  return {
    terminates: verdict !== "unbounded" && verdict !== "undecided",
    ...(verdict === "undecided" && { decided: false }),
    visits: bound.visits,
    model_calls: bound.modelCalls,
    tool_calls: bound.toolCalls,
    wall_time_sec: bound.wallTimeSec,
    // A run that a budget ends is no witness, and a cycle that was only suspected proves nothing.
    witness: verdict === "unbounded" ? path : null,
    ...(verdict === "undecided" && path !== null && { suspect: path }),
    verdict,
    exact: bound.exact,
    entry: bound.entry,
    per_state: bound.perState,
    configurations: bound.configurations,
  };
}
