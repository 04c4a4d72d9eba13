// A CSV file as a table (RFC 4180, and the semicolons and tabs people use): names from the first line, the
// type of a column from all of its values.

import type { DatabaseSync } from "node:sqlite";

const SEPARATORS = [",", ";", "\t"] as const;

export function loadCsv(db: DatabaseSync, { table, text }: { table: string; text: string }): void {
  const lines = records(text.startsWith("\u{FEFF}") ? text.slice(1) : text);
  const names = columnNames(lines[0] ?? []);
  if (names.length === 0) throw new Error(`the CSV file of table \`${table}\` has no header`);
  const rows = lines.slice(1);
  const types = names.map((_name, column) => typeOf(rows, column));
  const columns = names.map((name, column) => `${quoted(name)} ${types[column]}`);
  db.exec(`CREATE TABLE ${quoted(table)} (${columns.join(", ")})`);
  const insert = db.prepare(`INSERT INTO ${quoted(table)} VALUES (${names.map(() => "?").join(", ")})`);
  db.exec("BEGIN");
  for (const row of rows) insert.run(...types.map((type, column) => valueOf(row[column] ?? "", type)));
  db.exec("COMMIT");
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

type ColumnType = "INTEGER" | "REAL" | "TEXT";

const INTEGER = /^-?(0|[1-9]\d{0,14})$/;
const REAL = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d{1,3})?$/i;

/** Numbers with leading zeros are codes, not numbers. */
function typeOf(rows: readonly (readonly string[])[], column: number): ColumnType {
  let type: ColumnType = "INTEGER";
  let isEmpty = true;
  for (const row of rows) {
    const value = row[column] ?? "";
    if (value === "") continue;
    isEmpty = false;
    if (INTEGER.test(value)) continue;
    if (!REAL.test(value)) return "TEXT";
    type = "REAL";
  }
  return isEmpty ? "TEXT" : type;
}

const valueOf = (text: string, type: ColumnType): string | number | null =>
  text === "" ? null : type === "TEXT" ? text : Number(text);

function columnNames(header: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return header.map((cell, index) => {
    const name = cell.trim() || `column_${index + 1}`;
    const before = seen.get(name.toLowerCase()) ?? 0;
    seen.set(name.toLowerCase(), before + 1);
    return before === 0 ? name : `${name}_${before + 1}`;
  });
}

/** Lines that hold nothing are left out. */
function records(text: string): string[][] {
  const head = text.slice(0, text.search(/[\r\n]|$/));
  const count = (separator: string) => head.split(separator).length;
  const separator = [...SEPARATORS].sort((a, b) => count(b) - count(a))[0] ?? ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const { value, next } = field(text, { at, separator });
    row.push(value);
    const ending = text[next];
    at = next + 1;
    if (ending === separator) {
      if (at === text.length) row.push("");
      continue;
    }
    if (ending === "\r" && text[at] === "\n") at += 1;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

function field(text: string, { at, separator }: { at: number; separator: string }) {
  if (text[at] !== '"') {
    let next = at;
    while (next < text.length && text[next] !== separator && text[next] !== "\n" && text[next] !== "\r")
      next += 1;
    return { value: text.slice(at, next), next };
  }
  let end = at + 1;
  while (end < text.length) {
    const quote = text.indexOf('"', end);
    if (quote === -1) return { value: text.slice(at + 1).replaceAll('""', '"'), next: text.length };
    if (text[quote + 1] !== '"') {
      return { value: text.slice(at + 1, quote).replaceAll('""', '"'), next: quote + 1 };
    }
    end = quote + 2;
  }
  return { value: "", next: text.length };
}
