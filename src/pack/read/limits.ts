// How large a document may be. Hostile input ends at one of these with one clear finding (PP104).

import type { Finding } from "../diagnostic.ts";
import type { Span } from "./tree.ts";

export const limits = {
  sizeBytes: 5_000_000,
  depth: 64,
  aliasExpansions: 100,
  nodes: 200_000,
  documents: 1_000,
  /** Smallest pieces of a YAML text: a value with its key, indentation and line end has about seven. */
  tokens: 1_500_000,
  /** Pieces beyond sixteen for each value: blank lines, comments, stray brackets. */
  idleTokens: 100_000,
} as const;

export interface Words {
  readonly message: string;
  readonly why: string;
  readonly help: string;
}

export function syntaxFinding(message: string, why: string, help: string, span: Span): Finding {
  return readFinding("PP102", { message, why, help }, span);
}

export function limitFinding(message: string, why: string, help: string, span: Span): Finding {
  return readFinding("PP104", { message, why, help }, span);
}

export const tooLarge = (what: string, bytes: number, span: Span): Finding => {
  const size = Math.ceil(bytes / 100_000) / 10;
  const help = "move bulk text out of the pack, or split it";
  return limitFinding(`${what} ${size} MB`, `the limit is ${limits.sizeBytes / 1_000_000} MB`, help, span);
};

export const tooDeep = (span: Span): Finding =>
  limitFinding(
    `document is more than ${limits.depth} levels deep`,
    `the limit is ${limits.depth}`,
    "flatten it",
    span,
  );

export const tooManyNodes = (span: Span): Finding =>
  limitFinding(
    `document has more than ${limits.nodes} values`,
    "a pack of that size is not read as one file",
    "split the pack",
    span,
  );

export const tooManyTokens = (span: Span): Finding =>
  limitFinding(
    `document has more than ${limits.tokens} keys, values and marks`,
    "a pack of that size is not read as one file",
    "split the pack",
    span,
  );

export const tooManyIdleTokens = (span: Span): Finding =>
  limitFinding(
    "document has too many blank lines, comments or marks for its values",
    "reading it would take long and give little",
    "remove what is not data, or split the pack",
    span,
  );

export const tooManyAliases = (span: Span): Finding =>
  limitFinding(
    `aliases expand more than ${limits.aliasExpansions} times`,
    "a small file could grow without bound",
    "write the values out",
    span,
  );

export const tooManyDocuments = (span: Span): Finding =>
  limitFinding(
    `file has more than ${limits.documents} documents`,
    "it is read as one stream",
    "split the file",
    span,
  );

function readFinding(code: string, words: Words, span: Span): Finding {
  return { code, severity: "error", ...words, label: "", span, path: [], related: [], fix: null, data: {} };
}
