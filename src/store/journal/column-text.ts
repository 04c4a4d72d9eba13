// Texts in columns that are compared or searched. SQLite keeps UTF-8, which cannot say a lone surrogate: two
// different names could become one. Such a text is kept as its JSON behind a mark, and so is one with the
// mark.

const MARK = "\u0001";

export const toColumn = (text: string): string =>
  text.isWellFormed() && !text.startsWith(MARK) ? text : MARK + JSON.stringify(text);

export const fromColumn = (column: string): string =>
  column.startsWith(MARK) ? (JSON.parse(column.slice(MARK.length)) as string) : column;
