// The spellings in which a secret comes back: as it is, and in the codings that programs put around texts
// without being asked. What somebody encodes on purpose in another way is not found.

/** Shorter values would be found in ordinary words. */
const LENGTH_MIN = 6;
/** A line of a longer secret that could not be anything else. */
const LINE_MIN = 16;
/** So much of a secret that it is no accident: a limit may have cut off the rest. */
const PART_MIN = 12;

export interface SecretForm {
  readonly text: string;
  /** The first part of it: wherever it stands, the secret stands or was cut off. */
  readonly head: string;
  /** The last part; the same as the whole where parts could be anything. */
  readonly tail: string;
}

/** Every form of a value, the longest first; none when it is too short to be told from a word. */
export function formsOf(value: string): readonly SecretForm[] {
  const texts = new Set(partsOf(value).flatMap(spellings));
  return [...texts].filter(({ length }) => length >= LENGTH_MIN).map(formOf);
}

function formOf(text: string): SecretForm {
  const part = Math.ceil(text.length / 2);
  if (part < PART_MIN) return { text, head: text, tail: text };
  return { text, head: text.slice(0, part), tail: text.slice(-part) };
}

/** The value without the blanks that are never sent, its lines, and the password inside an address. */
function partsOf(value: string): readonly string[] {
  const whole = value.trim();
  if (whole.length < LENGTH_MIN) return [];
  const lines = whole.includes("\n") ? whole.split(/\r?\n/).map((line) => line.trim()) : [];
  const { password = "" } = whole.includes("://") ? (URL.parse(whole) ?? {}) : {};
  return [whole, ...lines.filter(({ length }) => length >= LINE_MIN), password, decoded(password)];
}

function spellings(value: string): readonly string[] {
  const url = encodeURIComponent(value);
  const form = new URLSearchParams({ "": value }).toString().slice(1);
  const json = inJson(value);
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  return [
    ...[value, json, inJson(json), inHtml(value)],
    ...[url, form].flatMap((text) => [text, text.replace(/%../g, (digits) => digits.toLowerCase())]),
    ...(bytes.length >= PART_MIN ? [hex, hex.toUpperCase(), ...inBase64(bytes)] : []),
  ];
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

const inHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Three characters become four, so a text within a text has one of three spellings, less its edges. */
function inBase64(bytes: Buffer): readonly string[] {
  const found: string[] = [];
  for (let before = 0; before < 3; before++) {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    for (const coding of ["base64", "base64url"] as const) {
      const text = all.toString(coding).replace(/=+$/, "");
      const isWhole = all.length % 3 === 0;
      found.push(text.slice(Math.ceil((before * 8) / 6), isWhole ? undefined : -1));
    }
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
