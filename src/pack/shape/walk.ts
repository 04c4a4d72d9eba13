// Holds a value against its shape: collects problems and builds the well-typed copy at the same time.
// I1: the input is never changed; the copy shares what needed no change.
// I2: one mistake, one problem: a value that is refused is not looked into any further.
// I3: every value is visited once per form it may take, and forms share no members that are looked into, so
//     the work is linear in the document. Recursion follows nesting, which the reader limits to 64 levels.

import type { Json, JsonObject, Path } from "../../base/json.ts";
import { deepEqual, get, isObject, put, toPointer } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { failure, resolve } from "./expect.ts";
import { fillingOf } from "./fill.ts";
import { shapes } from "./generated/shapes.ts";
import { conditional, copyWith, type Members, mayFit, misspelt, own } from "./members.ts";
import {
  absentKeys,
  manyForms,
  missingKey,
  noForm,
  noneOf,
  notExactlyOne,
  repeated,
  tooFew,
  unknownKey,
  unknownVariant,
} from "./object-problem.ts";
import type { Shape } from "./shape.ts";
import { type Frame, pathOf } from "./subject.ts";
import { valueProblem, type Words } from "./value-problem.ts";

export interface ShapeProblem extends Words {
  readonly code: "PP101" | "PP105";
  /** Of the offending value, or of the object lacking a key. */
  readonly path: Path;
  /** Which part of the entry to underline. */
  readonly on: "key" | "value";
}

/** At most this many problems are worded; a pack with more is not helped by the rest. */
const problemsMax = 1000;

/** What one attempt found, so that another form can be tried instead. */
interface Findings {
  readonly problems: ShapeProblem[];
  readonly broken: string[];
  readonly moved: (readonly [list: string, kept: readonly number[]])[];
  /** Counts problems beyond the limit too: an attempt fits only if there was none. */
  count: number;
}

/** One pass over a document. `found` holds the result. */
export class Walk {
  found: Findings = { problems: [], broken: [], moved: [], count: 0 };
  private readonly frames: Frame[];

  constructor(root: Json) {
    this.frames = [{ how: "property", key: "pack", value: root, optional: false, shape: undefined }];
  }

  /** The well-typed copy of the value at hand, or `undefined` when nothing of it can be used. */
  value(shape: Shape, value: Json): Json | undefined {
    let target = shape;
    while (target.ref !== undefined) {
      this.frame().shape = target.ref;
      target = shapes[target.ref] as Shape;
    }
    if (target.forms !== undefined) return this.oneForm(target.forms, target, value);
    const failed = failure(target, value);
    if (failed !== undefined) {
      this.report("PP101", "value", () => valueProblem(this.frames, target, failed));
      return undefined;
    }
    if (target.variants !== undefined) return this.variant(target, value as JsonObject);
    if (isObject(value)) return this.object(target, value);
    return Array.isArray(value) ? this.list(target, value) : value;
  }

  private object(shape: Shape, value: JsonObject): Json | undefined {
    let changes: Map<string, Json | undefined> | undefined;
    const unknown: string[] = [];
    for (const key of Object.keys(value)) {
      const member = value[key] as Json;
      const property = own(shape.properties, key);
      const expected = property ?? shape.rest;
      if (expected === undefined) continue;
      if (expected === false) unknown.push(key);
      const kept = expected === false ? undefined : this.member(expected, { key, member, owner: shape });
      if (kept === member) continue;
      changes ??= new Map();
      changes.set(key, kept);
      if (kept === undefined) this.breakAt(key);
    }
    const held = changes === undefined ? value : copyWith(value, changes);
    this.checkKeys(shape, { value, held, unknown });
    return this.fill(shape, held);
  }

  private member(expected: Shape, { key, member, owner }: Entry): Json | undefined {
    // Most members are scalars that are right; they need no frame, because nothing will be said about them.
    const isScalar = typeof member !== "object" && expected.type !== undefined;
    if (isScalar && failure(expected, member) === undefined) return member;
    const isProperty = own(owner.properties, key) !== undefined;
    const optional = !isProperty || owner.required?.includes(key) !== true;
    this.frames.push({
      how: isProperty ? "property" : "entry",
      key,
      value: member,
      optional,
      shape: undefined,
    });
    const kept = this.value(expected, member);
    this.frames.pop();
    return kept;
  }

  private checkKeys(shape: Shape, members: Members): void {
    const { value, unknown } = members;
    // A wrong key that is nearly a missing one is one mistake: only the wrong key is reported.
    const meant = new Set<string>();
    for (const key of unknown) {
      const guess = this.isFull() ? undefined : suggest(key, absentKeys(this.frame(), shape));
      if (guess !== undefined) meant.add(guess);
      this.report("PP105", "key", () => unknownKey(this.frame(), shape, key), key);
    }
    const required = shape.required ?? [];
    const keys =
      shape.requiredWhen === undefined ? required : [...required, ...conditional(shape, members, meant)];
    for (const key of keys) {
      if (Object.hasOwn(value, key)) continue;
      this.breakAt(key);
      if (!meant.has(key)) this.lacks(shape, value, key);
    }
    if (shape.atLeastOne?.some((key) => Object.hasOwn(value, key)) === false) {
      this.lacksAll(shape, value, shape.atLeastOne);
    }
    if (unknown.length === 0) this.checkCount(shape, value);
  }

  private checkCount(shape: Shape, value: JsonObject): void {
    const { minProperties: least, maxProperties: most } = shape;
    if (least === undefined) return;
    const count = Object.keys(value).length;
    if (count >= least && count <= (most ?? count)) return;
    if (count === 0) this.breakHere();
    if (most === least) this.report("PP101", "value", () => notExactlyOne(this.frames, shape, count));
    else this.report("PP101", this.place(), () => tooFew(this.frames, least, count));
  }

  /** A misspelt key in an open object is no problem by itself, so the missing one is reported on it. */
  private lacks(shape: Shape, value: JsonObject, key: string): void {
    const found = misspelt(shape, value, key);
    if (found !== undefined) this.breakAt(found);
    const on = found === undefined ? this.place() : "key";
    this.report("PP101", on, () => missingKey(this.frames, shape, { key, found }), found);
  }

  private lacksAll(shape: Shape, value: JsonObject, keys: readonly string[]): void {
    const meant = keys.find((key) => misspelt(shape, value, key) !== undefined);
    if (Object.keys(value).length === 0) this.breakHere();
    if (meant !== undefined) this.lacks(shape, value, meant);
    else this.report("PP101", this.place(), () => noneOf(this.frames, keys));
  }

  private fill(shape: Shape, held: JsonObject): Json | undefined {
    const absent = (shape.required ?? []).filter((property) => !Object.hasOwn(held, property));
    if (absent.length === 0) return held;
    const frame = this.frame();
    const filled = copyWith(held, new Map());
    for (const property of absent) {
      const filling = fillingOf({ shape: frame.shape, property }, frame.key, filled);
      if (filling === undefined) return undefined;
      put(filled, property, filling);
    }
    return filled;
  }

  private list(shape: Shape, value: readonly Json[]): Json {
    const { items } = shape;
    if (value.length < (shape.minItems ?? 0)) {
      if (value.length === 0) this.breakHere();
      this.report("PP101", this.place(), () => tooFew(this.frames, shape.minItems ?? 0, value.length));
    }
    if (items === undefined || Object.keys(items).length === 0) return value;
    const held: Json[] = [];
    const kept: number[] = [];
    let isChanged = false;
    value.forEach((item, index) => {
      this.frames.push({ how: "item", key: index, value: item, optional: true, shape: undefined });
      const usable = this.value(items, item);
      const copy = shape.uniqueItems === true ? this.unlessRepeated(usable, held, kept) : usable;
      this.frames.pop();
      if (copy !== item) isChanged = true;
      if (copy === undefined) {
        this.breakAt(index);
        return;
      }
      held.push(copy);
      kept.push(index);
    });
    if (kept.length < value.length) this.found.moved.push([toPointer(pathOf(this.frames)), kept]);
    return isChanged ? held : value;
  }

  /** Linear, because lists without repetition hold words of an enum: `held` cannot outgrow it. */
  private unlessRepeated(
    item: Json | undefined,
    held: readonly Json[],
    kept: readonly number[],
  ): Json | undefined {
    if (item === undefined) return undefined;
    const earlier = held.findIndex((other) => deepEqual(other, item));
    if (earlier === -1) return item;
    this.report("PP101", "value", () => repeated(this.frames, kept[earlier] ?? earlier));
    return undefined;
  }

  private variant(shape: Shape, value: JsonObject): Json | undefined {
    const { key, byValue, other } = shape.variants as NonNullable<Shape["variants"]>;
    const kind = get(value, key);
    const known: Shape = { type: ["string"], enum: Object.keys(byValue) };
    if (kind === undefined) {
      this.breakAt(key);
      this.lacks({ properties: { ...shapes[other]?.properties, [key]: known } }, value, key);
      return undefined;
    }
    if (typeof kind !== "string") {
      this.frames.push({ how: "property", key, value: kind, optional: false, shape: undefined });
      this.value(known, kind);
      this.frames.pop();
      return undefined;
    }
    const name = own(byValue, kind) ?? other;
    const test = resolve(shapes[name]?.properties?.[key] ?? {});
    if (failure(test, kind) === undefined) return this.value({ ref: name }, value);
    this.report("PP101", "value", () => unknownVariant(this.frames, shape, { key, value: kind }), key);
    return undefined;
  }

  private oneForm(forms: readonly Shape[], choice: Shape, value: Json): Json | undefined {
    const { shape: name } = this.frame();
    const possible = forms.filter((form) => failure(resolve(form), value) === undefined);
    if (possible.length === 0) {
      this.report("PP101", "value", () => valueProblem(this.frames, choice, "type"));
      return undefined;
    }
    const likely = possible.filter((form) => mayFit(resolve(form), value));
    const attempts = likely.map((form) => this.attempt(form, value));
    const fitting = attempts.filter((attempt) => attempt.found.count === 0);
    if (fitting.length === 0) {
      for (const form of possible) if (!likely.includes(form)) attempts.push(this.attempt(form, value));
    }
    this.frame().shape = name;
    const best = fitting[0] ?? nearest(attempts, value);
    if (best === undefined) {
      this.report("PP101", this.place(), () => noForm(this.frames, possible));
      return undefined;
    }
    if (fitting.length > 1) {
      this.report("PP101", this.place(), () =>
        manyForms(
          this.frames,
          fitting.map((attempt) => attempt.form),
        ),
      );
    }
    this.keep(best.found);
    return best.value;
  }

  private attempt(form: Shape, value: Json): Attempt {
    const before = this.found;
    this.found = { problems: [], broken: [], moved: [], count: 0 };
    const result = { form, value: this.value(form, value), found: this.found };
    this.found = before;
    return result;
  }

  private keep(found: Findings): void {
    const room = Math.max(0, problemsMax - this.found.problems.length);
    for (const problem of found.problems.slice(0, room)) this.found.problems.push(problem);
    for (const pointer of found.broken) this.found.broken.push(pointer);
    for (const list of found.moved) this.found.moved.push(list);
    this.found.count += found.count;
  }

  private report(code: ShapeProblem["code"], on: ShapeProblem["on"], words: () => Words, key?: string): void {
    this.found.count++;
    if (this.isFull()) return;
    const path = pathOf(this.frames);
    this.found.problems.push({ code, path: key === undefined ? path : [...path, key], on, ...words() });
  }

  private isFull(): boolean {
    return this.found.problems.length >= problemsMax;
  }

  private breakHere(): void {
    this.found.broken.push(toPointer(pathOf(this.frames)));
  }

  private breakAt(key: string | number): void {
    this.found.broken.push(toPointer([...pathOf(this.frames), key]));
  }

  private frame(): Frame {
    return this.frames.at(-1) as Frame;
  }

  /** A whole object is pointed at by its key where it has one, rather than underlined from end to end. */
  private place(): "key" | "value" {
    return this.frames.length > 1 && this.frame().how !== "item" ? "key" : "value";
  }
}

interface Entry {
  readonly key: string;
  readonly member: Json;
  /** The shape of the object it is a member of. */
  readonly owner: Shape;
}

interface Attempt {
  readonly form: Shape;
  readonly value: Json | undefined;
  readonly found: Findings;
}

/** The form that shares most keys with the value, then the one with fewest problems; none if no key fits. */
function nearest(attempts: readonly Attempt[], value: Json): Attempt | undefined {
  if (attempts.length === 1 || !isObject(value)) return attempts[0];
  let best: Attempt | undefined;
  let bestShared = 0;
  for (const attempt of attempts) {
    const { properties = {} } = resolve(attempt.form);
    const shared = Object.keys(properties).filter((key) => Object.hasOwn(value, key)).length;
    if (shared < bestShared || shared === 0) continue;
    if (shared === bestShared && best !== undefined && attempt.found.count >= best.found.count) continue;
    best = attempt;
    bestShared = shared;
  }
  return best;
}
