// Plain YAML texts that readers of YAML 1.1, or other readers of 1.2, take for something else.

const BOOLEANS: ReadonlyMap<string, string> = new Map(
  Object.entries({ true: ["y", "yes", "on", "true"], false: ["n", "no", "off", "false"] }).flatMap(
    ([value, words]) => words.flatMap(spellings).map((word) => [word, value] as const),
  ),
);
const NULLS: ReadonlySet<string> = new Set(["~", ...spellings("null")]);

function spellings(word: string): readonly string[] {
  const capital = word.charAt(0).toUpperCase();
  return [word, capital + word.slice(1), word.toUpperCase()];
}

const NUMBERS: readonly { readonly form: RegExp; readonly value: (text: string) => number }[] = [
  { form: /^[-+]?0[0-7]+$/, value: (text) => signed(text, (digits) => Number.parseInt(digits, 8)) },
  { form: /^[-+]?0[xX][0-9a-fA-F]+$/, value: (text) => signed(text, Number) },
  { form: /^[-+]?0b[01]+$/, value: (text) => signed(text, Number) },
  { form: /^0o[0-7]+$/, value: Number },
  { form: /^[-+]?[1-9][0-9]*(?::[0-5]?[0-9])+$/, value: (text) => signed(text, sexagesimal) },
  { form: /^[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/, value: withoutGaps },
];

/** How another reader would write the value, or `undefined` for a text every reader keeps. */
export function readElsewhereAs(text: string): string | undefined {
  if (text.length > 30) return undefined;
  if (NULLS.has(text)) return "null";
  const boolean = BOOLEANS.get(text);
  if (boolean !== undefined) return boolean;
  const number = NUMBERS.find(({ form }) => form.test(text))?.value(text);
  // 404 is the same text again when it is written out.
  return number === undefined || String(number) === text ? undefined : String(number);
}

function signed(text: string, read: (digits: string) => number): number {
  const sign = /^[-+]/.exec(text)?.[0];
  const value = read(sign === undefined ? text : text.slice(1));
  return sign === "-" ? -value : value;
}

function sexagesimal(text: string): number {
  return text.split(":").reduce((total, part) => total * 60 + Number(part), 0);
}

function withoutGaps(text: string): number {
  return Number(text.replaceAll("_", ""));
}
