// A model's text on its way to somebody who watches, without secrets: they come in pieces, so what may be the
// beginning of one is held back until it is known what it is.

import type { Delta } from "./ports.ts";
import type { Redaction } from "./redaction.ts";

/** Where somebody watches, what they see of an answer as it comes. */
export function shownStream(
  to: {
    readonly onDelta?: (delta: Delta) => void;
    readonly redaction?: Redaction | undefined;
  },
  { run, step, attempt }: Omit<Delta, "text">,
): Pick<CleanStream, "add" | "end"> | undefined {
  const { onDelta, redaction } = to;
  if (onDelta === undefined) return undefined;
  const show = (text: string) => onDelta({ run, step, attempt, text });
  return redaction === undefined ? { add: show, end: () => {} } : new CleanStream(redaction, show);
}

/** So much of what was shown is kept: a name ahead of a secret tells that it is one. */
const CONTEXT_MAX = 80;
/** A run of characters without a blank that is longer is no credential. */
const WORD_MAX = 4096;
/** So much text may follow the head of a private key. */
const KEY_MAX = 16_384;

export class CleanStream {
  readonly #redaction: Redaction;
  readonly #show: (text: string) => void;
  /** The end of what was shown, while it was shown as it came. */
  #context = "";
  #held = "";

  constructor(redaction: Redaction, show: (text: string) => void) {
    this.#redaction = redaction;
    this.#show = show;
  }

  add(text: string): void {
    const all = this.#held + text;
    const open = Math.max(this.#redaction.openEnd(all), openWord(all), openKey(all));
    this.#held = all.slice(all.length - open);
    this.#give(all.slice(0, all.length - open));
  }

  /** Nothing follows. */
  end(): void {
    const rest = this.#held;
    this.#held = "";
    this.#give(rest);
  }

  #give(text: string): void {
    if (text === "") return;
    const raw = this.#context + text;
    const clean = this.#redaction.text(raw);
    const isContextWhole = clean.startsWith(this.#context);
    this.#show(isContextWhole ? clean.slice(this.#context.length) : this.#redaction.text(text));
    this.#context = clean === raw ? raw.slice(-CONTEXT_MAX) : "";
  }
}

/** Credentials are written without blanks, in characters of ASCII: the last such word may go on. */
function openWord(text: string): number {
  let length = 0;
  while (length < text.length && length <= WORD_MAX && isDark(text.charCodeAt(text.length - 1 - length)))
    length++;
  return length > WORD_MAX ? 0 : length;
}

const isDark = (code: number): boolean => code > 0x20 && code < 0x7f;

/** The one credential with blanks in it. */
function openKey(text: string): number {
  const head = text.lastIndexOf("-----BEGIN ");
  if (head < 0 || text.indexOf("-----END ", head) >= 0) return 0;
  const length = text.length - head;
  return length > KEY_MAX ? 0 : length;
}
