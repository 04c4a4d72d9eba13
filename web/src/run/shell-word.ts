// A text as one word of a shell: quoted where it has to be, so that a copied command means what it says.

const PLAIN = /^[\w@%+=:,./-]+$/;

export const wordOf = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
