// Words for objects and lists whose members do not add up: keys missing or unknown, too many, too few, or
// no form that fits.

import type { JsonObject } from "../../base/json.ts";
import { get, isObject } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { alternatives, expected, matches, resolve } from "./expect.ts";
import { fillingOf } from "./fill.ts";
import type { Shape } from "./shape.ts";
import { clip, type Frame, kindOf, quote, subject } from "./subject.ts";
import { didYouMean, type Words } from "./value-problem.ts";

/** A required key is absent. `found` is a key of an open object that looks like it. */
export function missingKey(
  frames: readonly Frame[],
  shape: Shape,
  { key, found }: { readonly key: string; readonly found: string | undefined },
): Words {
  const name = subject(frames);
  return {
    message: `${name} lacks ${quote(key)}`,
    why:
      found === undefined
        ? "the schema requires it"
        : `the schema requires it, and ${quote(found)} is not read`,
    help: found === undefined ? addition(frames, shape, key) : `rename ${quote(found)} to ${quote(key)}`,
    suggestion: found === undefined ? undefined : key,
    data: { subject: name, property: key, ...(found === undefined ? {} : { found: clip(found) }) },
  };
}

/** What a reference to something else in the pack must name; an invented sample would dangle. */
const references: ReadonlyMap<string, string> = new Map([
  ["prompt_task", "the key of a prompt"],
  ["composition", "the key of a composition"],
  ["tool", "the key of a tool"],
  ["entry", "the place to begin"],
  ["then", "the id of the step to go on with"],
  ["artifact", "the name of an artifact"],
]);

function addition(frames: readonly Frame[], shape: Shape, key: string): string {
  const frame = frames.at(-1) as Frame;
  if (key === "prompt_task" && get(frame.value, "composition") !== undefined) {
    return "add `orchestration: composition`, or `prompt_task` in place of `composition`";
  }
  const reference = references.get(key);
  if (reference !== undefined) return `add ${quote(key)}, ${reference}`;
  const property = shape.properties?.[key] ?? {};
  const own =
    frame.how === "entry" ? fillingOf({ shape: frame.shape, property: key }, frame.key, {}) : undefined;
  const pattern = resolve(property).pattern;
  // The entry's own key is the better proposal, where it is one at all.
  const named =
    own === frame.key && typeof own === "string" && (pattern === undefined || matches(pattern, own));
  const value = named ? clip(own) : property.sample;
  return value === undefined ? `add ${quote(key)}, ${expected(property)}` : `add \`${key}: ${value}\``;
}

/** A key a closed object does not know. */
export function unknownKey(frame: Frame, shape: Shape, key: string): Words {
  const known = Object.keys(shape.properties ?? {});
  const suggestion = suggest(key, absentKeys(frame, shape));
  const twin = suggestion === undefined ? suggest(key, known) : undefined;
  const owner = kindOf(frame);
  const removal = twin === undefined ? `${owner} has ${listed(known)}` : `${quote(twin)} is there already`;
  return {
    message: `${quote(key)} is not a property of ${owner}`,
    why: "it is ignored, so what it should set is not in force",
    help: suggestion === undefined ? `remove it; ${removal}` : didYouMean(suggestion),
    suggestion,
    data: { property: clip(key), owner, allowed: known },
  };
}

/** Known keys the object does not have yet: only these can be what a wrong key was meant to be. */
export function absentKeys(frame: Frame, shape: Shape): string[] {
  const value = frame.value as JsonObject;
  return Object.keys(shape.properties ?? {}).filter((known) => !Object.hasOwn(value, known));
}

const listedMax = 8;

function listed(keys: readonly string[]): string {
  const shown = keys.slice(0, listedMax).map((key) => quote(key));
  const more = keys.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

/** None of several keys is there, and one of them must be. */
export function noneOf(frames: readonly Frame[], keys: readonly string[]): Words {
  const name = subject(frames);
  const names = alternatives(keys.map((key) => quote(key)));
  return {
    message: `${name} has neither ${keys.map((key) => quote(key)).join(" nor ")}`,
    why: "without one of them nothing says when it ends",
    help: `add ${names}`,
    suggestion: undefined,
    data: { subject: name, allowed: keys },
  };
}

/** An object with exactly one key has none, or several. */
export function notExactlyOne(frames: readonly Frame[], shape: Shape, count: number): Words {
  const name = subject(frames);
  const keys = Object.keys(shape.properties ?? {});
  return {
    message: `${name} has ${count === 0 ? "no key" : `${count} keys`}, expected exactly one`,
    why: "each entry names one thing",
    help:
      count === 0 ? `add ${alternatives(keys.map((key) => quote(key)))}` : "split it into one entry per key",
    suggestion: undefined,
    data: { subject: name, actual: count, allowed: keys },
  };
}

/** A map or list with fewer members than it needs. */
export function tooFew(frames: readonly Frame[], least: number, count: number): Words {
  const name = subject(frames);
  return {
    message: `${name} ${count === 0 ? "is empty" : `has ${count === 1 ? "1 entry" : `${count} entries`}`}`,
    why: `the schema requires at least ${least === 1 ? "1 entry" : `${least} entries`}`,
    help: least - count === 1 ? "add an entry" : `add ${least - count} entries`,
    suggestion: undefined,
    data: { subject: name, actual: count, expected: least },
  };
}

/** An item that occurs before in a list without repetition. */
export function repeated(frames: readonly Frame[], first: number): Words {
  const frame = frames.at(-1) as Frame;
  const name = subject(frames);
  const value = typeof frame.value === "string" ? ` ${quote(frame.value)}` : "";
  return {
    message: `${name} repeats${value}`,
    why: `entry ${first + 1} is the same, and each may occur once`,
    help: "remove it",
    suggestion: undefined,
    data: { subject: name, first: first + 1 },
  };
}

/** An object that resembles none of the forms it may take. */
export function noForm(frames: readonly Frame[], forms: readonly Shape[]): Words {
  const name = subject(frames);
  const choices = [...new Set(forms.map((form) => keysOf(form)))];
  const value = frames.at(-1)?.value;
  const found = isObject(value) ? Object.keys(value) : [];
  return {
    message: found.length === 0 ? `${name} is empty` : `${name} has none of the keys that belong there`,
    why: "the schema has a list of forms, and it is none of them",
    help: `write one with ${alternatives(choices)}`,
    suggestion: undefined,
    data: { subject: name, forms: choices, found: found.slice(0, listedMax).map((key) => clip(key)) },
  };
}

function keysOf(form: Shape): string {
  const keys = resolve(form).required ?? [];
  return keys.map((key) => quote(key)).join(" + ");
}

/** An object that fits several forms where exactly one must. */
export function manyForms(frames: readonly Frame[], forms: readonly Shape[]): Words {
  const name = subject(frames);
  // Only forms with required keys tell a reader anything; media limits have none.
  const choices = forms.map((form) => keysOf(form)).filter((keys) => keys !== "");
  const isMedia = choices.length === 0;
  return {
    message: isMedia
      ? `${name} has only keys that the known media types share`
      : `${name} is two conditions at once: ${choices.join(" and ")}`,
    why: isMedia
      ? "the schema cannot tell it from an image, audio, video or document block"
      : "it may be only one",
    help: isMedia ? "add a key of its own, such as `validation_params: {}`" : "put both under `all_of`",
    suggestion: undefined,
    data: { subject: name, forms: choices },
  };
}

/** The text that chooses the variant of an object is none that is known. */
export function unknownVariant(
  frames: readonly Frame[],
  shape: Shape,
  { key, value }: { readonly key: string; readonly value: string },
): Words {
  const known = Object.keys(shape.variants?.byValue ?? {});
  const suggestion = suggest(value, known);
  const name = subject(frames);
  return {
    message: `${quote(key)} of ${name} is ${quote(value)}, expected ${listed(known)} or a \`vendor.kind\``,
    why: `the ${key} decides what a step does and which keys it has`,
    help: suggestion === undefined ? `write one of these` : didYouMean(suggestion),
    suggestion,
    data: { subject: name, property: key, actual: clip(value), allowed: known },
  };
}
