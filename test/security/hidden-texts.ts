// Reads between the lines: every text that a text may stand for, so that nothing is safe because a model would
// not have understood it.

const ZERO_WIDTH = /[​-‏⁠-⁤﻿­‪-‮⁦-⁩]/g;
/** A blob within a blob within a blob. */
const DEPTH_MAX = 4;

/** The text itself and what it becomes by undoing codings, each once. */
export function readings(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  read(text, found, DEPTH_MAX);
  return found;
}

function read(text: string, found: Set<string>, depth: number): void {
  if (found.has(text)) return;
  found.add(text);
  if (depth === 0 || text.length > 20_000) return;
  for (const other of otherReadings(text)) read(other, found, depth - 1);
}

function otherReadings(text: string): readonly string[] {
  const plain = text.replace(ZERO_WIDTH, "");
  return [
    plain,
    plain.normalize("NFKC"),
    text.replace(/(?![\r\n])\p{Cc}\[[0-9;]*[A-Za-z]/gu, ""),
    ...[percentDecoded(text), entitiesDecoded(text), rotated(text), [...text].reverse().join("")],
    ...blobs(text),
    ...stringsIn(parsed(text)),
  ].filter((one): one is string => one !== undefined && one !== text && isOrder(one));
}

/** Only readings that say something are followed. */
const isOrder = (text: string): boolean => /[{<\\"`%&=]|https?:|[A-Za-z0-9+/]{16}/.test(text);

function blobs(text: string): readonly string[] {
  const words = text.match(/[A-Za-z0-9+/_-]{16,}={0,2}/g) ?? [];
  return words.slice(0, 20).flatMap((word) => {
    const codings = /^[0-9a-f]+$/i.test(word) ? (["hex", "base64"] as const) : (["base64"] as const);
    return codings.map((coding) => Buffer.from(word, coding).toString("utf8")).filter(isReadable);
  });
}

const isReadable = (text: string): boolean => text.length > 4 && !/(?![\t\r\n])\p{Cc}|�/u.test(text);

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', lt: "<", gt: ">", amp: "&", apos: "'" };

const entitiesDecoded = (text: string): string =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name?: string) =>
    code === undefined ? (ENTITIES[name ?? ""] ?? whole) : String.fromCodePoint(Number(code)),
  );

const rotated = (text: string): string =>
  text.replace(/[A-Za-z]/g, (letter) => {
    const first = letter <= "Z" ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Most texts are no JSON.
    return undefined;
  }
}

/** Every text in a value, names of fields included. */
export function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...stringsIn(item)]);
}
