// Names as text in a picture. A name is any string of the pack: it may hold line ends, control characters or
// half a surrogate pair, none of which a diagram can show.

/**
 * Control characters, line separators, direction overrides, lone surrogates and the code points XML refuses.
 * The escape `\p{Cs}` means a surrogate outside a pair, since the pattern reads code points.
 */
const UNSHOWABLE = /[\p{Cc}\p{Cs}\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff0-\uffff]/gu;

/** The text on one line, with a dot for each character that cannot be shown. */
export function oneLine(text: string): string {
  return text.replace(UNSHOWABLE, "·");
}

/** At most `max` columns; a text that is cut ends in an ellipsis. */
export function clip(text: string, max: number): string {
  if (columns(text) <= max) return text;
  let shown = "";
  let width = 0;
  for (const point of text) {
    width += columnsOf(point);
    if (width > max - 1) break;
    shown += point;
  }
  return `${shown.trimEnd()}…`;
}

/** Lines of at most `max` columns, broken at the joints of a name where it has some. */
export function wrap(text: string, max: number, linesMax: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (columns(rest) > max && lines.length < linesMax - 1) {
    const cut = breakBefore(rest, max);
    lines.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  lines.push(clip(rest, max));
  return lines;
}

/** After a separator, or before a capital that follows a small letter. */
const JOINT = /(?<=[\s_\-./:])|(?<=[\p{Ll}\d])(?=\p{Lu})/gu;

function breakBefore(text: string, max: number): number {
  let best = 0;
  for (const { index } of text.matchAll(JOINT)) {
    if (columns(text.slice(0, index)) > max) break;
    best = index;
  }
  if (best > 0) return best;
  let width = 0;
  for (const point of text) {
    width += columnsOf(point);
    if (width > max) break;
    best += point.length;
  }
  return Math.max(best, 1);
}

/** Columns of a terminal: East Asian wide characters and emoji take two, marks that combine take none. */
export function columns(text: string): number {
  let width = 0;
  for (const point of text) width += columnsOf(point);
  return width;
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/u;

function columnsOf(point: string): number {
  if (/^\p{M}|\ufe0f|\u200d$/u.test(point)) return 0;
  return WIDE.test(point) || /\p{Emoji_Presentation}/u.test(point) ? 2 : 1;
}

/**
 * An estimate of a text's width in a proportional sans-serif font, in pixels. Widths are those of the widest
 * common system font (DejaVu Sans), so that a text never leaves its box.
 */
export function textWidth(text: string, fontSize: number): number {
  let units = 0;
  for (const point of text) units += unitsOf(point);
  return Math.ceil(units * fontSize);
}

function unitsOf(point: string): number {
  if (/[iljI.,:;'|! ]/.test(point)) return 0.35;
  if (/[tfr()[\]/\-_]/.test(point)) return 0.48;
  if (/[mwMW@%…]/.test(point)) return 0.98;
  if (/[A-Z]/.test(point)) return 0.74;
  if (point < "\u0250") return 0.64;
  return columnsOf(point) === 2 ? 1.4 : 0.8;
}
