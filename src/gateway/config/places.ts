// Where the values of a configuration stand in its files. Mappings and lists are remembered by identity, so
// that whoever finds something wrong with one can say where, however far it was handed on.

import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, visit } from "yaml";
import { isObject, type Json } from "../../base/json.ts";

/** One file as it was parsed. */
export interface ParsedFile {
  /** As it is shown to people. */
  readonly name: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

interface Entry {
  readonly self: string;
  readonly byKey: ReadonlyMap<string, string>;
}

export class Places {
  readonly #entries = new WeakMap<object, Entry>();

  /** `value` is what the file was read as, its variables filled in. */
  add(file: ParsedFile, value: Json): void {
    this.#walk(file, file.document.contents, value);
  }

  /** The copy stands where the original does, and its keys where `keys` do. */
  copy(from: Json, to: Json, keys: ReadonlyMap<string, string> = new Map()): void {
    const entry = this.#entries.get(from as object);
    this.#entries.set(to as object, {
      self: entry?.self ?? "",
      byKey: new Map([...(entry?.byKey ?? []), ...keys]),
    });
  }

  /**
   * `config.yaml:3:5: `, for the key of a mapping or the item of a list, else for the value itself; nothing
   * for what comes from no file.
   */
  of(value: Json | undefined, key?: string | number): string {
    const entry = value === undefined || value === null ? undefined : this.#entries.get(value as object);
    return (key === undefined ? undefined : entry?.byKey.get(String(key))) ?? entry?.self ?? "";
  }

  #walk(file: ParsedFile, node: Node | null | undefined, value: Json): void {
    const real = isAlias(node) ? node.resolve(file.document) : node;
    if (real === null || real === undefined || value === null || typeof value !== "object") return;
    const byKey = new Map<string, string>();
    this.#entries.set(value, { self: placeOf(file, real), byKey });
    if (isSeq(real) && Array.isArray(value)) {
      for (const [index, item] of real.items.entries()) {
        byKey.set(String(index), placeOf(file, item as Node));
        this.#walk(file, item as Node, value[index] as Json);
      }
    } else if (isMap(real) && isObject(value)) {
      for (const { key, value: inner } of real.items) {
        const name = String(isScalar(key) ? key.value : key);
        byKey.set(name, placeOf(file, key as Node));
        const found = Object.hasOwn(value, name) ? value[name] : undefined;
        if (found !== undefined) this.#walk(file, inner as Node | null, found);
      }
    }
  }
}

const placeOf = ({ name, lines }: ParsedFile, node: Node | null): string => {
  const { line, col } = lines.linePos(node?.range?.[0] ?? 0);
  return `${name}:${line}:${col}: `;
};

/** Where a variable is first named. */
export function variablePlace(file: ParsedFile, variable: string): string {
  let found: Node | undefined;
  visit(file.document, {
    Scalar: (_, node) => {
      if (typeof node.value !== "string" || !node.value.includes(`\${${variable}}`)) return undefined;
      found = node;
      return visit.BREAK;
    },
  });
  return placeOf(file, found ?? file.document.contents);
}
