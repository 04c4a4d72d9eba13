// The one syntax error of a YAML document that is worth telling, placed where the author made the slip. The
// parser reports where it noticed, which for an open bracket or quote is often the end of the file.

import type { CST, Document } from "yaml";
import type { Finding } from "../diagnostic.ts";
import { syntaxFinding, type Words } from "./limits.ts";
import type { Span } from "./tree.ts";
import { yamlErrorText } from "./yaml-error-text.ts";

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
}

interface Placed extends Words {
  readonly span: Span;
  /** Another place that explains it. */
  readonly beside?: { readonly message: string; readonly span: Span };
}

export function yamlProblem(
  document: Document.Parsed,
  tokens: readonly CST.Token[],
  text: string,
): Finding | undefined {
  const problems: readonly Problem[] = document.errors.length > 0 ? document.errors : document.warnings;
  const first = problems[0];
  if (first === undefined) return undefined;
  const open = problems.find(({ message }) => /end with a [\]}]$|^Missing closing ./.test(message));
  const opened = open === undefined ? undefined : openedAt(open, tokens, text);
  const placed = opened ?? slip(first, problems, text) ?? asReported(first, text);
  const { message, why, help, span, beside } = placed;
  const finding = syntaxFinding(message, why, help, span);
  return beside === undefined ? finding : { ...finding, related: [{ ...beside, path: [] }] };
}

function asReported({ code, message, pos }: Problem, text: string): Placed {
  const words = yamlErrorText(code, message);
  const start = Math.min(pos[0], text.length);
  const end = Math.max(start, Math.min(pos[1], text.length));
  if (code !== "BAD_INDENT") return { ...words, span: firstLine({ start, end }, text) };
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  return { ...words, span: trimmed(lineStart, lineAt(text, lineStart)) };
}

/** Brackets and quotes: what was opened and never closed, or closed by the wrong bracket. */
function openedAt(problem: Problem, tokens: readonly CST.Token[], text: string): Placed | undefined {
  if (problem.message.startsWith("Missing closing")) return openQuote(problem, tokens);
  let unclosed: Opened | undefined;
  for (const token of allTokens(tokens)) {
    if (token.type !== "flow-collection") continue;
    const open = token.start.source;
    const close = open === "{" ? "}" : "]";
    const end = token.end.find(({ type }) => type === "flow-map-end" || type === "flow-seq-end");
    if (end?.source === close) continue;
    const what = open === "{" ? "mapping" : "list";
    const span = { start: token.offset, end: token.offset + 1 };
    if (end !== undefined) return wrongBracket({ open, close, what, span }, end);
    unclosed ??= { open, close, what, span };
  }
  return unclosed === undefined ? undefined : notClosed(unclosed, problem.pos[0], text);
}

interface Opened {
  readonly open: string;
  readonly close: string;
  readonly what: string;
  readonly span: Span;
}

function wrongBracket({ close, what, span }: Opened, end: CST.SourceToken): Placed {
  return {
    message: `expected \`${close}\`, found \`${end.source}\``,
    why: `the ${what} is still open`,
    help: "close it first",
    span: { start: end.offset, end: end.offset + 1 },
    beside: { message: `the ${what} is opened here`, span },
  };
}

/** Between brackets, a line that is not indented deeper than the key ends the collection. */
function notClosed({ open, close, what, span }: Opened, endedAt: number, text: string): Placed {
  const message = `the ${what} opened with \`${open}\` is not closed`;
  if (text.slice(endedAt).trim() === "") {
    return { message, why: "the file ends before it does", help: `add \`${close}\``, span };
  }
  const lineStart = text.lastIndexOf("\n", endedAt - 1) + 1;
  return {
    message,
    why: "a line that is not indented deeper than the key ends it",
    help: `add \`${close}\`, or indent the lines between the brackets with spaces`,
    span,
    beside: { message: "this line ends it", span: trimmed(lineStart, lineAt(text, lineStart)) },
  };
}

function openQuote({ pos }: Problem, tokens: readonly CST.Token[]): Placed | undefined {
  for (const token of allTokens(tokens)) {
    if (token.type !== "single-quoted-scalar" && token.type !== "double-quoted-scalar") continue;
    if (token.offset + token.source.length !== pos[0]) continue;
    const quote = token.source.charAt(0);
    const why = "everything behind the quote is read as part of the text";
    const span = { start: token.offset, end: token.offset + 1 };
    return { message: "the quoted text is not closed", why, help: `add \`${quote}\``, span };
  }
  return undefined;
}

/** In document order. Iterative: only the depth of each document has been limited, not their number. */
function* allTokens(tokens: readonly CST.Token[]): Generator<CST.Token> {
  const stack = tokens.toReversed();
  while (stack.length > 0) {
    const token = stack.pop() as CST.Token;
    yield token;
    if (token.type === "document" && token.value) stack.push(token.value);
    if (!("items" in token)) continue;
    for (const { key, value } of token.items.toReversed()) {
      if (value) stack.push(value);
      if (key) stack.push(key);
    }
  }
}

/** Slips whose cause shows in the text around the error. */
function slip({ code, message, pos }: Problem, all: readonly Problem[], text: string): Placed | undefined {
  const lineStart = text.lastIndexOf("\n", pos[0] - 1) + 1;
  const before = text.slice(lineStart, pos[0]);
  const line = lineAt(text, lineStart);
  const braces = /^\s*(?:- +)*(?:[^\s"'#{[][^"'#{[]*:\s+)?(?=\{\{)/.exec(line);
  if (braces !== null) return unquoted("{{", lineStart + braces[0].length, "the start of a mapping");
  if (code === "UNEXPECTED_TOKEN") {
    const star = /(?:^|[:-]\s)\s*(?=\*\S)/.exec(before);
    if (star !== null) return unquoted("*", lineStart + star.index + star[0].length, "an alias");
    if (/["']\s*$/.test(before)) return afterQuote(pos, text);
    if (/^Unexpected flow-(map|seq)-end/.test(message)) return strayBracket(pos, text);
  }
  if (code === "BLOCK_AS_IMPLICIT_KEY") {
    const several = all.find((one) => one.code === "MULTILINE_IMPLICIT_KEY" && one.pos[0] === pos[0]);
    return several === undefined ? innerColon(pos[0], text) : deeper(pos[0], text);
  }
  if (code !== "MULTILINE_IMPLICIT_KEY") return undefined;
  const colon = /^[^\s:]+:(?=\S)/.exec(line.trimStart());
  return colon === null ? missingColon(lineStart, line) : missingSpace(lineStart, line, colon[0]);
}

function unquoted(mark: string, start: number, means: string): Placed {
  return {
    message: `a text that begins with \`${mark}\` is not quoted`,
    why: `YAML reads it as ${means}`,
    help: "put the text in quotes",
    span: { start, end: start + mark.length },
  };
}

function afterQuote([start, end]: readonly [number, number], text: string): Placed {
  return {
    message: "text follows a closing quote",
    why: "a value that begins with a quote ends with the next one",
    help: "quote the whole text, and double or escape quotes inside it",
    span: firstLine({ start, end }, text),
  };
}

function strayBracket([start]: readonly [number, number], text: string): Placed {
  return {
    message: `unexpected \`${text.charAt(start)}\``,
    why: "no bracket of that kind is open here",
    help: "remove it, or put the text in quotes",
    span: { start, end: start + 1 },
  };
}

function innerColon(from: number, text: string): Placed | undefined {
  const colon = /:(?=\s|$)/.exec(lineAt(text, from));
  if (colon === null) return undefined;
  const start = from + colon.index;
  return {
    message: "an unquoted text holds a colon followed by a space",
    why: "YAML reads what stands before it as a key",
    help: "put the text in quotes, or the second key on a line of its own",
    span: { start, end: start + 1 },
  };
}

/** `a: 1` followed by a deeper `b: 2`: the parser sees one text over two lines. */
function deeper(from: number, text: string): Placed {
  const next = text.indexOf("\n", from) + 1;
  const start = next + (/^[ \t]*/.exec(text.slice(next, next + 1000))?.[0].length ?? 0);
  return {
    message: "this line is indented deeper than the entry above, which already has a value",
    why: "an entry has either a value on its line or entries below it",
    help: "align it with the entry above, or remove that value",
    span: firstLine({ start, end: text.length }, text),
  };
}

function missingColon(start: number, line: string): Placed {
  return {
    message: "a colon is missing in this line",
    why: "the key of the next line would begin here, and a key stands on one line",
    help: "write `key: value`, or indent the line if it belongs to a text",
    span: trimmed(start, line),
  };
}

function missingSpace(start: number, line: string, upToColon: string): Placed {
  const at = start + line.length - line.trimStart().length + upToColon.length - 1;
  return {
    message: "a space is missing after `:`",
    why: "without it the colon is part of a text",
    help: "add a space",
    span: { start: at, end: at + 1 },
  };
}

/** A line of any length; what is looked for stands near its beginning. */
const lineAt = (text: string, start: number): string =>
  /^[^\r\n]*/.exec(text.slice(start, start + 1000))?.[0] ?? "";

function trimmed(start: number, line: string): Span {
  const from = start + line.length - line.trimStart().length;
  return { start: from, end: from + line.trim().length };
}

function firstLine({ start, end }: Span, text: string): Span {
  const newline = text.indexOf("\n", start);
  if (newline === -1 || newline >= end) return { start, end };
  return { start, end: Math.max(start, newline) };
}
