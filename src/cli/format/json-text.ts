// JSON that any reader accepts. Strings come from packs, so they may hold anything a pack can: unpaired
// surrogates (which strict readers refuse), separators some readers split lines at, and marks that
// rearrange a terminal. The first become U+FFFD, the others are escaped.

export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(SPECIAL, (found) => {
    if (found.length === 1) return `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
    // A surrogate that JSON.stringify wrote as an escape has no partner.
    return /^\\ud[89a-f]/.test(found) ? "\\ufffd" : found;
  });
}

// An escape is matched whole, so that the `u` of an escaped backslash followed by text is not taken for one.
const SPECIAL = /\\(?:u[0-9a-f]{4}|.)|[\u007f-\u009f\u2028\u2029\p{Bidi_Control}]/gu;
