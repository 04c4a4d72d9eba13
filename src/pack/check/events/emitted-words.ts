// Words a prompt tells the model to emit. Prose is full of capitals, so a word counts as an event only when
// something speaks for it: its form, quotes, the word "event" beside it, or an event listed with it.

interface EmittedWord {
  readonly word: string;
  readonly start: number;
  /** It is an event whatever it looks like: called so, or in a list with one. */
  readonly isCalledEvent: boolean;
}

const VERB = /\b(emit|send|rais)(?:e|s|es|ing|ting)?\b/gi;
const ARTICLE = /[\s:]*(?:(?:the|an?|one of|either|exactly|only|events?|signal)\b[\s:]*)*/y;
const ITEM = /(["'`*“‘]*)([A-Z][A-Za-z0-9]*)(?![\w-])(["'`*”’]*)(\s+events?\b)?/y;
const SEPARATOR = /\s*(?:,\s*(?:or\b|and\b)?|\bor\b|\band\b|\/|\|)\s*/y;
/** What may stand behind an event, as opposed to a noun a name belongs to: `GitHub issues`. */
const ENDING =
  /\s*(?:$|[.,;:!?)\]}"'`*—–-]|\n|(?:when|if|once|after|as|on|to|for|and|or|unless|until|otherwise|only)\b)/y;
/** Items of one list looked at. */
const ITEMS_MAX = 20;

export function emittedWords(text: string, isEvent: (word: string) => boolean): readonly EmittedWord[] {
  const found: EmittedWord[] = [];
  for (const verb of text.matchAll(VERB)) {
    const items = itemsAt(text, verb.index + verb[0].length);
    const isList = items.some(({ word }) => isEvent(word));
    for (const item of items) {
      if (!isLikely(item, (verb[1] as string).toLowerCase()) && !isList) continue;
      found.push({ word: item.word, start: item.start, isCalledEvent: item.isCalled || isList });
    }
  }
  return found;
}

interface Item {
  readonly word: string;
  readonly start: number;
  readonly isQuoted: boolean;
  readonly isCalled: boolean;
  readonly isEnding: boolean;
}

function itemsAt(text: string, from: number): readonly Item[] {
  const items: Item[] = [];
  const article = matchAt(ARTICLE, text, from);
  const isCalled = /\b(?:events?|signal)\b/.test(article?.[0] ?? "");
  let at = from + (article?.[0].length ?? 0);
  while (items.length < ITEMS_MAX) {
    const match = matchAt(ITEM, text, at);
    if (match === null) return items;
    const [whole, open = "", word = "", , called] = match;
    at += whole.length;
    items.push({
      word,
      start: match.index + open.length,
      isQuoted: open !== "",
      isCalled: isCalled || called !== undefined,
      isEnding: matchAt(ENDING, text, at) !== null,
    });
    const separator = matchAt(SEPARATOR, text, at);
    if (separator === null) return items;
    at += separator[0].length;
  }
  return items;
}

function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

/** `TestsPassed` says itself that it is an event; `Done` does after "emit" and where the clause ends. */
function isLikely({ word, isQuoted, isCalled, isEnding }: Item, verb: string): boolean {
  if (isCalled) return true;
  // Prompts about code raise exceptions.
  if (verb === "rais" && /(?:Error|Exception|Warning|Exit)$/.test(word)) return false;
  if (/^[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+$/.test(word)) return isQuoted || isEnding;
  return verb === "emit" && /[a-z]/.test(word) && (isQuoted || isEnding);
}
