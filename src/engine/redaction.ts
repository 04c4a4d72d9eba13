// Keeps secrets out of journals: known values by value, and credentials by the form their issuer gives them.
// Everything that enters a run passes the door, so this is the one place where it is done.

import { findCredentials } from "../base/credentials.ts";
import { isObject, type Json, type JsonObject, put } from "../base/json.ts";
import type { AnswerInput, Input } from "../core/input.ts";
import { formsOf, type SecretForm } from "./secret-forms.ts";

interface Secret extends SecretForm {
  readonly mark: string;
}

export class Redaction {
  /** Longest first: one secret may begin with another. */
  #secrets: readonly Secret[] = [];
  readonly #values = new Set<string>();
  /** Finds whether there is anything to look for: most texts hold nothing. */
  #any: RegExp | undefined;
  readonly #byFirst = new Map<string, Secret[]>();

  /** From now on `value`, and what it becomes in the usual codings, is shown as `[redacted NAME]`. */
  add(name: string, value: string): void {
    if (this.#values.has(value)) return;
    this.#values.add(value);
    const known = new Set(this.#secrets.map(({ text }) => text));
    const added = formsOf(value).filter(({ text }) => !known.has(text));
    const marked = added.map((form) => ({ ...form, mark: `[redacted ${name}]` }));
    if (marked.length === 0) return;
    this.#secrets = [...this.#secrets, ...marked].sort((a, b) => b.text.length - a.text.length);
    const parts = new Set(this.#secrets.flatMap(({ head, tail }) => [head, tail]));
    this.#any = new RegExp([...parts].map(literal).join("|"));
    for (const secret of marked) {
      const first = secret.text[0] ?? "";
      this.#byFirst.set(first, [...(this.#byFirst.get(first) ?? []), secret]);
    }
  }

  text(text: string): string {
    return withoutCredentials(this.#withoutValues(text));
  }

  /** How much of the end of a text may be the beginning of a known secret. */
  openEnd(text: string): number {
    const from = Math.max(0, text.length - (this.#secrets[0]?.text.length ?? 0));
    for (let at = from; at < text.length; at++) {
      const rest = this.#byFirst.get(text[at] as string)?.some((one) => one.text.startsWith(text.slice(at)));
      if (rest === true) return text.length - at;
    }
    return 0;
  }

  /** The same object when there was nothing to hide. */
  json<T>(value: T): T {
    return walked(value as Json, (text) => this.text(text)) as T;
  }

  input(input: Input): Input {
    // Variables are what the run works with; a secret does not belong there, and hiding it would break the
    // run.
    if (input.type === "start")
      return input.host === undefined ? input : { ...input, host: this.json(input.host) };
    // What a tool left for itself to go on with is shown to nobody, and may have the form of a credential.
    if (input.type === "hold" && input.handle !== undefined) {
      const { handle, ...rest } = input;
      return { ...this.json(rest), handle: walked(handle, (text) => this.#withoutValues(text)) };
    }
    if (!isSigned(input)) return this.json(input);
    // What a provider signed must come back to it as it was, and is nothing but cipher to anybody else;
    // unless words in it repeat a secret. Then the model goes on without it.
    const { extra, ...said } = input.outcome.value;
    const kept = this.#holds(JSON.stringify(extra)) ? {} : { extra: extra as Json };
    return { ...this.json(input), outcome: { ok: true, value: { ...this.json(said), ...kept } } };
  }

  #holds(text: string): boolean {
    return this.#withoutValues(text) !== text;
  }

  #withoutValues(text: string): string {
    if (this.#any?.test(text) !== true) return text;
    let clean = text;
    for (const secret of this.#secrets) {
      if (clean.includes(secret.head)) clean = hidden(clean, secret, "head");
      if (secret.tail !== secret.head && clean.includes(secret.tail)) clean = hidden(clean, secret, "tail");
    }
    return clean;
  }
}

/** A secret of digits may come as a number. */
function cleanNumber(value: number, clean: (text: string) => string): Json {
  if (!Number.isSafeInteger(value)) return value;
  const text = String(value);
  const shown = clean(text);
  return shown === text ? value : shown;
}

/** The value with every text in it cleaned, names of fields included. */
function walked(value: Json, clean: (text: string) => string): Json {
  if (typeof value === "string") return clean(value);
  if (typeof value === "number") return cleanNumber(value, clean);
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    const items = list.map((item) => walked(item, clean));
    return items.some((item, index) => item !== list[index]) ? items : value;
  }
  if (!isObject(value)) return value;
  const fields: Record<string, Json> = {};
  let changed = false;
  for (const [key, item] of Object.entries(value)) {
    const name = clean(key);
    const kept = walked(item, clean);
    changed ||= kept !== item || name !== key;
    put(fields, name, kept);
  }
  return changed ? fields : value;
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** Every place where a part of the secret stands is hidden with as much of the rest as stands there too. */
function hidden(text: string, secret: Secret, part: "head" | "tail"): string {
  const needle = secret[part];
  let clean = "";
  let from = 0;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, from)) {
    let [start, end] = [at, at + needle.length];
    if (part === "head") while (isNext(text, end, secret.text[end - at])) end++;
    else
      for (let rest = secret.text.length - needle.length; rest > 0 && start > from; rest--, start--)
        if (text[start - 1] !== secret.text[rest - 1]) break;
    clean += text.slice(from, start) + secret.mark;
    from = end;
  }
  return clean + text.slice(from);
}

const isNext = (text: string, at: number, expected: string | undefined): boolean =>
  expected !== undefined && text[at] === expected;

function withoutCredentials(text: string): string {
  let clean = "";
  let from = 0;
  for (const { start, end, kind } of findCredentials(text)) {
    clean += `${text.slice(from, start)}[redacted: ${kind}]`;
    from = end;
  }
  return from === 0 ? text : clean + text.slice(from);
}

interface Signed extends AnswerInput {
  readonly outcome: { readonly ok: true; readonly value: JsonObject };
}

/** A model's answer with what its provider wants back; tools and people say nothing that is kept as it is. */
const isSigned = (input: Input): input is Signed =>
  input.type === "answer" &&
  input.hash !== undefined &&
  input.outcome.ok &&
  isObject(input.outcome.value) &&
  Object.hasOwn(input.outcome.value, "extra");
