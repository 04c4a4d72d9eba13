// Applies fixes to a text until none is left: right to left, overlapping ones wait for the next pass.

import { assert } from "../../base/assert.ts";
import { type CheckOptions, checkText } from "../check-text.ts";
import type { Edit, Finding } from "../diagnostic.ts";

/** Fixes may uncover fixes; ten rounds are more than any pack needs. */
const PASSES_MAX = 10;

export interface FixOptions extends CheckOptions {
  readonly unsafe: boolean;
  /** Which findings may be mended, as selected on the command line. */
  readonly choose: (findings: readonly Finding[]) => readonly Finding[];
}

export interface FixedText {
  readonly text: string;
  readonly applied: number;
  /** A fix made things worse and the text is the original: a defect of ours that must be reported. */
  readonly refused: string | undefined;
}

export function applyFixes(text: string, options: FixOptions): FixedText {
  let current = text;
  let applied = 0;
  let before = checkText(current, options);
  for (let pass = 0; pass < PASSES_MAX; pass++) {
    const fixes = chosenFixes(options.choose(before.findings), options.unsafe);
    if (fixes.length === 0) break;
    const safe = fixes.every((finding) => finding.fix?.applicability === "safe");
    const next = applyEdits(
      current,
      fixes.flatMap((finding) => finding.fix?.edits ?? []),
    );
    const after = checkText(next, options);
    const worse =
      newError(before.findings, after.findings) ?? (safe ? changedProgram(before, after) : undefined);
    if (worse !== undefined) return { text, applied: 0, refused: `${codesOf(fixes)}: ${worse}` };
    applied += fixes.length;
    current = next;
    before = after;
  }
  return { text: current, applied, refused: undefined };
}

/**
 * Fixes of one pass: those whose edits do not touch another's, first in the file first; safe ones before
 * unsafe.
 */
function chosenFixes(findings: readonly Finding[], unsafe: boolean): readonly Finding[] {
  const safe = findings.filter((finding) => finding.fix?.applicability === "safe");
  const candidates = safe.length > 0 || !unsafe ? safe : findings.filter((finding) => finding.fix !== null);
  const taken: Edit[] = [];
  const chosen: Finding[] = [];
  for (const finding of candidates) {
    const edits = finding.fix?.edits ?? [];
    if (edits.some((edit) => taken.some((other) => overlaps(edit, other)))) continue;
    taken.push(...edits);
    chosen.push(finding);
  }
  return chosen;
}

/** Touching counts: two insertions at one place have no order that is right for both. */
const overlaps = (a: Edit, b: Edit): boolean => a.start <= b.end && b.start <= a.end;

export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = text;
  for (const edit of edits.toSorted((a, b) => b.start - a.start)) {
    assert(
      edit.start >= 0 && edit.end >= edit.start && edit.end <= text.length,
      "an edit lies inside the text",
    );
    result = result.slice(0, edit.start) + edit.text + result.slice(edit.end);
  }
  return result;
}

function newError(before: readonly Finding[], after: readonly Finding[]): string | undefined {
  const count = (findings: readonly Finding[]) =>
    findings.filter((finding) => finding.severity === "error").length;
  if (count(after) <= count(before)) return undefined;
  const known = new Set(before.map((finding) => `${finding.code} ${finding.message}`));
  const added = after.find((one) => one.severity === "error" && !known.has(`${one.code} ${one.message}`));
  return `the fix would introduce ${added?.code ?? "an error"}: ${added?.message ?? "more errors than before"}`;
}

function changedProgram(
  before: { readonly packs: readonly { readonly digest: string }[] },
  after: { readonly packs: readonly { readonly digest: string }[] },
): string | undefined {
  const digests = (checked: typeof before) => checked.packs.map((pack) => pack.digest).join();
  return digests(before) === digests(after) ? undefined : "a safe fix would change what the pack does";
}

const codesOf = (fixes: readonly Finding[]): string =>
  [...new Set(fixes.map((finding) => finding.code))].join(", ");
