// How a turn's facts are kept: their JSON with common phrases replaced by control characters, which JSON
// never holds unescaped. It halves a row at the cost of one pass over the text; zlib and zstd made rows a
// third smaller still, but took twenty times as long per call, which neither a commit nor reading a long
// journal can afford.

/**
 * Stored rows depend on this list: an entry never moves, new ones are added at the end.
 * The first 30 take one character, the next ones two.
 */
const PHRASES: readonly string[] = [
  '[{"type":"answered","step":',
  ',"outcome":{"ok":true,"value":',
  '{"text":"',
  '","calls":[{"id":"',
  '","tool":"workflow__set_artifact","args":{"name":"',
  '","tool":"workflow__transition","args":{"event":"',
  '","value":',
  '}},{"id":"',
  '}}],"usage":{"inputTokens":',
  ',"outputTokens":',
  ',"costUsd":',
  '{"type":"wrote","artifact":"',
  '","mode":"replace","json":false,"value":',
  '","mode":"append","json":false,"value":',
  ',"source":{"kind":"model","step":',
  '}},{"type":"noted","what":"result","call":"',
  '","result":{"status":"artifact_set","artifact":"',
  '"},"error":false},{"type":"noted","what":"scheduled","event":"',
  '","context":""},{"type":"noted","what":"result","call":"',
  '","result":{"status":"transition_scheduled","event":"',
  '"},"error":false},{"type":"entered","state":"',
  '","visit":',
  ',"prompt":"',
  '","cause":{"kind":"event","from":"',
  '","event":"',
  '"},"fresh":true,"context":""},{"type":"asked","step":',
  ',"ask":{"kind":"model","round":',
  ',"nth":',
  ',"tools":true}}',
  '","tool":"',
  '[{"type":"started","digest":"',
  '}}},"hash":"',
  '}},"hash":"',
  '"},{"type":"wrote","artifact":"',
  '}}}},{"type":"wrote","artifact":"',
  '"},{"type":"',
  '}},{"type":"',
  '{"type":"asked","step":',
  '{"type":"entered","state":"',
  '{"type":"answered","step":',
  '{"type":"noted","what":"result","call":"',
  '{"type":"noted","what":"scheduled","event":"',
  '{"type":"noted","what":"',
  '{"type":"finished","status":"completed","reason":null,"text":"',
  '{"type":"finished","status":"',
  '"},"fresh":true,"context":"',
  '"},"fresh":false,"context":"',
  '"},"fresh":false,"context":""},{"type":"asked","step":',
  '","cause":{"kind":"entry"},"fresh":true,"context":""},{"type":"asked","step":',
  '","context":"',
  '","args":{',
  '","args":{}',
  '","calls":[],"usage":{"inputTokens":',
  '],"usage":{"inputTokens":',
  ',"outcome":{"ok":false,"code":"',
  '","message":"',
  ',"ask":{"kind":"tool","call":"',
  ',"ask":{"kind":"agent","call":"',
  ',"ask":{"kind":"approval","call":"',
  ',"ask":{"kind":"event","allow":["',
  ',"ask":{"kind":"timer","due":',
  ',"ask":{"kind":"message"}}',
  ',"source":{"kind":"tool","step":',
  ',"source":{"kind":"outside","by":"',
  '","mode":"replace","json":true,"value":',
  '","mode":"append","json":true,"value":',
  '","result":',
  '","result":"',
  ',"error":false}',
  ',"error":true}',
  ',"tools":false}}',
  '","by":"',
  '"workflow__transition"',
  '"workflow__set_artifact"',
  ',"mode":"autonomous","state":',
  '"limits":{"visits":',
  ',"toolCalls":',
  ',"wallMs":',
  ',"modelCalls":null,"inputTokens":null,"outputTokens":null,"costUsd":null}',
  ',"parent":null,"wallClock":"total","gated":[]}',
];

const SINGLES = 30;
/** Opens a code of two characters. */
const WIDE = 0x1f;

const codeOf = (index: number): string =>
  index < SINGLES ? String.fromCharCode(index + 1) : String.fromCharCode(WIDE, 0x20 + index - SINGLES);

/** By length of the phrase: comparing the few of one length is quicker than hashing the phrase for a map. */
const codesByLength: (readonly [phrase: string, code: string])[][] = [];
for (const [index, phrase] of PHRASES.entries()) {
  codesByLength[phrase.length] ??= [];
  codesByLength[phrase.length]?.push([phrase, codeOf(index)]);
}

/** Longer phrases first, so that the longest one that fits is taken. */
const anyPhrase = new RegExp(
  PHRASES.toSorted((a, b) => b.length - a.length)
    .map((phrase) => phrase.replace(/[[\]{}.|\\]/g, String.raw`\$&`))
    .join("|"),
  "g",
);

export const packText = (json: string): string => json.replace(anyPhrase, codeFor);

function codeFor(phrase: string): string {
  for (const [known, code] of codesByLength[phrase.length] ?? []) if (known === phrase) return code;
  return phrase;
}

/** Undoes `packText`. A damaged text gives some other text, which the hash then refuses. */
export function unpackText(packed: string): string {
  let json = "";
  let from = 0;
  for (let i = 0; i < packed.length; i++) {
    const code = packed.charCodeAt(i);
    if (code > WIDE) continue;
    json += packed.slice(from, i);
    const wide = code === WIDE;
    if (wide) i++;
    json += PHRASES[wide ? packed.charCodeAt(i) - 0x20 + SINGLES : code - 1] ?? "";
    from = i + 1;
  }
  return json + packed.slice(from);
}
