// Texts that are too long for a prompt, cut so that what is missing is said.

/** The first two thirds and the last third, with a mark between them that says how much is gone. */
export function clip(text: string, most: number, fullText?: string): string {
  if (text.length <= most) return text;
  const where = fullText === undefined ? "" : `, full text in ${fullText}`;
  const mark = (gone: number) => `\n[… ${gone} characters omitted${where} …]\n`;
  const room = Math.max(0, most - mark(text.length).length);
  const head = cutBack(text, Math.ceil((room * 2) / 3));
  const tail = cutForward(text, text.length - Math.floor(room / 3));
  return `${text.slice(0, head)}${mark(tail - head)}${text.slice(tail)}`;
}

/** The last lines that fit. */
export function lastLines(text: string, fits: (text: string) => boolean): string {
  let rest = text;
  while (!fits(rest)) {
    const line = rest.indexOf("\n");
    // One line that is too long by itself loses its first half.
    rest = rest.slice(line === -1 ? cutForward(rest, Math.ceil(rest.length / 2)) : line + 1);
  }
  return rest;
}

/** No character is cut in two. */
const cutBack = (text: string, at: number): number => (isLow(text.charCodeAt(at)) ? at - 1 : at);
const cutForward = (text: string, at: number): number => (isLow(text.charCodeAt(at)) ? at + 1 : at);
const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000;
