// Suppression comments (`# pp-ignore CODE: reason`): which findings they silence, and what is wrong with
// them.

import { ruleByCode } from "./check/rules.ts";
import type { Edit, Finding } from "./diagnostic.ts";
import type { Node, Span } from "./read/tree.ts";

export interface SuppressInput {
  readonly text: string;
  readonly roots: readonly Node[];
  readonly isEnabled: (code: string) => boolean;
}

interface Comment {
  readonly span: Span;
  readonly code: string;
  readonly reason: string;
  readonly wholeFile: boolean;
  /** The line whose findings it silences, as offsets. */
  readonly target: Span;
  /** It stands alone on its line. */
  readonly alone: boolean;
}

const COMMENT = /#[ \t]*pp-ignore(-file)?[ \t]+([^\s:]+)[ \t]*(?::[ \t]*([^\r\n]*))?/g;

/** The findings that stay, with those about the comments themselves. Errors always stay. */
export function suppress(findings: readonly Finding[], input: SuppressInput): readonly Finding[] {
  const comments = readComments(input);
  if (comments.length === 0) return findings;
  const used = new Set<Comment>();
  const kept = findings.filter((finding) => {
    if (finding.severity === "error") return true;
    const silencing = comments.filter((comment) => silences(comment, finding));
    for (const comment of silencing) used.add(comment);
    return silencing.length === 0;
  });
  const about = comments.flatMap((comment) => aboutComment(comment, { used: used.has(comment), input }));
  return [...kept, ...about];
}

function silences(comment: Comment, finding: Finding): boolean {
  if (comment.code !== finding.code || comment.reason === "") return false;
  const { start } = finding.span;
  return comment.wholeFile || (comment.target.start <= start && start < comment.target.end);
}

function readComments({ text, roots }: SuppressInput): readonly Comment[] {
  if (!text.includes("pp-ignore") || roots.some(isJsonRoot)) return [];
  const scalars = roots.flatMap(scalarSpans);
  const contentStart = Math.min(text.length, ...roots.map((root) => root.span.start));
  const comments: Comment[] = [];
  for (const match of text.matchAll(COMMENT)) {
    const start = match.index;
    if (scalars.some((span) => span.start <= start && start < span.end)) continue;
    const wholeFile = match[1] !== undefined;
    if (wholeFile && start > contentStart) continue;
    const span = { start, end: start + match[0].trimEnd().length };
    const lineBegin = text.lastIndexOf("\n", start - 1) + 1;
    const alone = text.slice(lineBegin, start).trim() === "";
    const target = alone ? lineBelow(text, span.end) : { start: lineBegin, end: span.end };
    const reason = (match[3] ?? "").trim();
    comments.push({ span, code: match[2] as string, reason, wholeFile, target, alone });
  }
  return comments;
}

const isJsonRoot = (root: Node): boolean =>
  root.kind === "map" && root.flow && root.entries[0]?.keyStyle === "double";

function scalarSpans(node: Node): readonly Span[] {
  if (node.kind === "scalar") return [node.span];
  if (node.kind === "list") return node.items.flatMap(scalarSpans);
  return node.entries.flatMap((entry) => [entry.keySpan, ...scalarSpans(entry.value)]);
}

/** The next line that is neither blank nor a comment, so that several suppressions can be stacked. */
function lineBelow(text: string, from: number): Span {
  let start = text.indexOf("\n", from) + 1;
  while (start > 0 && start < text.length) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    if (!/^\s*(#|$)/.test(text.slice(start, end))) return { start, end: end + 1 };
    start = end + 1;
  }
  return { start: text.length, end: text.length };
}

function aboutComment(
  comment: Comment,
  { used, input }: { used: boolean; input: SuppressInput },
): readonly Finding[] {
  const base = { span: comment.span, path: [], label: "", related: [], data: { code: comment.code } };
  const rule = ruleByCode(comment.code);
  if (rule === undefined) {
    const message = `\`${comment.code}\` is not a code`;
    const help = "see packloop explain --list";
    return [
      {
        ...base,
        code: "PP903",
        severity: "error",
        message,
        why: "the suppression names no rule",
        help,
        fix: null,
      },
    ];
  }
  if (comment.reason === "") {
    const message = `suppression of \`${comment.code}\` gives no reason`;
    const why = "without one it silences nothing, and the next reader cannot judge it";
    const help = `write \`# pp-ignore ${comment.code}: why this is fine\``;
    return [{ ...base, code: "PP902", severity: "warning", message, why, help, fix: null }];
  }
  if (used || !input.isEnabled(comment.code)) return [];
  const message = `suppression of \`${comment.code}\` silences nothing`;
  const why =
    rule.severity === "error" ? "errors cannot be suppressed" : "there is no such finding on that line";
  const edit = removalOf(comment, input.text);
  const fix = { applicability: "safe" as const, title: "remove the comment", edits: [edit] };
  return [{ ...base, code: "PP901", severity: "warning", message, why, help: "remove it", fix }];
}

function removalOf(comment: Comment, text: string): Edit {
  const lineBegin = text.lastIndexOf("\n", comment.span.start - 1) + 1;
  const newline = text.indexOf("\n", comment.span.end);
  const lineStop = newline === -1 ? text.length : newline + 1;
  if (comment.alone) return { start: lineBegin, end: lineStop, text: "" };
  const before = text.slice(lineBegin, comment.span.start).trimEnd();
  return { start: lineBegin + before.length, end: comment.span.end, text: "" };
}
