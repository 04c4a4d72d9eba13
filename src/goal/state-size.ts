// How large a value is in a host's blob. Hosts write it anew with the escapes of HTML, where five characters
// cost six bytes each; they refuse a blob by that size, so it is the one that counts.

import type { Json } from "../base/json.ts";

export const KIB = 1024;

/** Never less than a host counts; a little more where a text holds a backslash before b or f. */
export function stateBytes(value: Json): number {
  const text = JSON.stringify(value);
  let bytes = textBytes(text);
  // Written as \u003c and the like by hosts that escape HTML, \b and \f as \u0008 and \u000c.
  for (const [found, extra] of LONGER) bytes += extra * occurrences(text, found);
  return bytes;
}

/** Without making a list of the pieces: a state may be full of them. */
function occurrences(text: string, found: string): number {
  let count = 0;
  for (let at = text.indexOf(found); at !== -1; at = text.indexOf(found, at + found.length)) count++;
  return count;
}

const LONGER: readonly (readonly [text: string, extra: number])[] = [
  ["<", 5],
  [">", 5],
  ["&", 5],
  ["\u2028", 3],
  ["\u2029", 3],
  ["\\b", 4],
  ["\\f", 4],
];

/** UTF-8, as a plain writer has it. */
export function textBytes(text: string): number {
  // Most of it is ASCII, and looking at every character is the dear part.
  let bytes = text.length;
  for (let at = text.search(BEYOND_ASCII); at !== -1 && at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Both halves of a pair make four bytes.
    if (code >= 0x800) bytes += code >= 0xd800 && code < 0xe000 ? 1 : 2;
    else if (code >= 0x80) bytes += 1;
  }
  return bytes;
}

const BEYOND_ASCII = /[\u0080-\uffff]/;
