// Sizes in UTF-8, without the encoder that pure code does not have.

export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) bytes += bytesOf(character);
  return bytes;
}

/** The longest beginning that takes no more bytes than these and splits no character. */
export function utf8Prefix(text: string, bytesMax: number): string {
  let [bytes, end] = [0, 0];
  for (const character of text) {
    bytes += bytesOf(character);
    if (bytes > bytesMax) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Half of a pair counts as the sign that stands for what cannot be written. */
function bytesOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
