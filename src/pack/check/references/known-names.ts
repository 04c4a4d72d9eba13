// What the reference rules share: the names a map of the file defines, and guesses at what a wrong one meant.

import type { Path } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { nodeAt } from "../../read/tree.ts";
import type { CheckContext } from "../rule.ts";

/** Comparisons a rule may spend: a file of wrong names gets all its findings, some without a guess. */
const COMPARISONS_MAX = 50_000;
/** Longer names are not compared; a guess at them would not fit on a line. */
const LENGTH_MAX = 100;

export class KnownNames {
  readonly #names: ReadonlySet<string>;
  readonly #guesses = new Map<string, string | undefined>();
  #comparisonsLeft = COMPARISONS_MAX;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  get size(): number {
    return this.#names.size;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** The one name that is close to a wrong one. */
  guess(wrong: string): string | undefined {
    const before = this.#guesses.get(wrong);
    if (before !== undefined || this.#guesses.has(wrong)) return before;
    if (wrong.length > LENGTH_MAX || this.#comparisonsLeft <= 0) return undefined;
    this.#comparisonsLeft -= this.#names.size;
    const found = suggest(wrong, this.#short());
    this.#guesses.set(wrong, found);
    return found;
  }

  *[Symbol.iterator](): Generator<string> {
    yield* this.#names;
  }

  *#short(): Generator<string> {
    for (const name of this.#names) if (name.length <= LENGTH_MAX) yield name;
  }
}

/**
 * The keys of a map in the file, whatever became of their values; none when the map is absent.
 * `undefined` when it cannot be judged: the shape phase refused it, or it has a misspelt key.
 */
export function namesAt(context: CheckContext, ...path: Path): KnownNames | undefined {
  if (context.isBroken(...path)) return undefined;
  const node = nodeAt(context.root, path);
  if (node === undefined) return isMisspelt(context, path) ? undefined : new KnownNames([]);
  return node.kind === "map" ? new KnownNames(node.entries.map((entry) => entry.key)) : undefined;
}

/** A key the shape phase refused beside the place looks like the one that is missing. */
export function isMisspelt(context: CheckContext, path: Path): boolean {
  const parent = path.slice(0, -1);
  const wanted = String(path.at(-1));
  const around = nodeAt(context.root, parent);
  if (around === undefined) return parent.length > 0 && isMisspelt(context, parent);
  if (around.kind !== "map") return false;
  return around.entries.some(
    ({ key }) => key !== wanted && suggest(key, [wanted]) === wanted && context.isBroken(...parent, key),
  );
}

/** What stands beside the caret. */
export const asked = (guess: string): string => `did you mean \`${guess}\`?`;
