// The first rows of a result, as many as fit. Values become JSON; long ones are cut and say how much is
// missing.

import type { Json, JsonObject } from "../../../base/json.ts";
import type { SqlLimits } from "./sql-question.ts";

/** One value cannot crowd out all others. */
const CELL_CHARS_MAX = 32_768;

export class RowWindow {
  readonly #limits: SqlLimits;
  readonly #rows: Json[][] = [];
  #bytes = 0;
  #full: string | undefined;

  constructor(limits: SqlLimits) {
    this.#limits = limits;
  }

  /** False when the row did not fit: no more are wanted. */
  add(cells: readonly unknown[]): boolean {
    const row = cells.map(cellValue);
    const bytes = Buffer.byteLength(JSON.stringify(row));
    if (this.#rows.length >= this.#limits.rows) this.#full = `${this.#limits.rows} rows`;
    else if (this.#bytes + bytes > this.#limits.bytes) this.#full = `${this.#limits.bytes} bytes`;
    else {
      this.#rows.push(row);
      this.#bytes += bytes;
    }
    return this.#full === undefined;
  }

  result(columns: readonly string[]): JsonObject {
    return {
      columns: [...columns],
      rows: this.#rows,
      row_count: this.#rows.length,
      truncated: this.#full !== undefined,
      ...(this.#full !== undefined && {
        note: `there are more rows; at most ${this.#full} are returned (select less, aggregate, or use LIMIT and OFFSET)`,
      }),
    };
  }
}

function cellValue(value: unknown): Json {
  if (value === null || value === undefined || typeof value === "boolean") return value ?? null;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  // Whole numbers beyond what JSON readers keep exact stay exact as texts.
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (typeof value === "string") return shortText(value);
  if (value instanceof Uint8Array) {
    return {
      base64: shortText(Buffer.from(value.subarray(0, CELL_CHARS_MAX)).toString("base64")),
      bytes: value.length,
    };
  }
  const text = JSON.stringify(value);
  return text.length > CELL_CHARS_MAX ? shortText(text) : (JSON.parse(text) as Json);
}

function shortText(text: string): string {
  if (text.length <= CELL_CHARS_MAX) return text;
  return `${text.slice(0, CELL_CHARS_MAX).toWellFormed()}[… ${text.length - CELL_CHARS_MAX} more characters]`;
}
