// The catalogue: search, sorting, covers.

import { join, normalize } from "node:path";

const COLUMNS = ["title", "author", "year"];

export async function searchBooks(db, words) {
  return db.query("SELECT * FROM books WHERE title LIKE ?", [`%${words}%`]);
}

export async function sortedBooks(db, column) {
  if (!COLUMNS.includes(column)) throw new Error("unknown column");
  return db.query("SELECT * FROM books ORDER BY " + column);
}

export function coverFile(name) {
  return join("covers", name);
}

export function safeCoverFile(name) {
  const path = normalize(join("covers", name));
  if (!path.startsWith("covers/")) throw new Error("outside of the covers");
  return path;
}

export function shelfColour() {
  return `hsl(${Math.floor(Math.random() * 360)}, 40%, 70%)`;
}
