// MIME types as artifacts and agents name them.

const TOKEN = "[A-Za-z0-9!#$&^_.+-]+";
const PARAMETERS = `(?:\\s*;\\s*${TOKEN}=(?:${TOKEN}|"[^"]*"))*`;
const TYPE = new RegExp(`^${TOKEN}/${TOKEN}${PARAMETERS}$`);
const RANGE = new RegExp(`^(?:\\*/\\*|${TOKEN}/(?:\\*|${TOKEN}))${PARAMETERS}$`);

export const isMimeType = (text: string): boolean => TYPE.test(text);
/** Also `image/*`, as agents may say what they take. */
export const isMimeRange = (text: string): boolean => RANGE.test(text);

/** The type without parameters, for comparison. */
export function essence(type: string): string {
  return (type.split(";")[0] as string).trim().toLowerCase();
}

export const isJsonType = (type: string): boolean =>
  /^application\/json$|^[^/]+\/[^/]+\+json$/.test(essence(type));

const COMMON: ReadonlyMap<string, string> = new Map([
  ["json", "application/json"],
  ["object", "application/json"],
  ["array", "application/json"],
  ["text", "text/plain"],
  ["txt", "text/plain"],
  ["string", "text/plain"],
  ["plain", "text/plain"],
  ["plaintext", "text/plain"],
  ["markdown", "text/markdown"],
  ["md", "text/markdown"],
  ["html", "text/html"],
  ["csv", "text/csv"],
  ["xml", "application/xml"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["pdf", "application/pdf"],
  ["binary", "application/octet-stream"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["svg", "image/svg+xml"],
  ["webp", "image/webp"],
  ["wav", "audio/wav"],
  ["mp3", "audio/mpeg"],
  ["mp4", "video/mp4"],
]);

/** What a short name such as `json` or `.md` stands for. */
export function mimeTypeFor(name: string): string | undefined {
  return COMMON.get(name.trim().toLowerCase().replace(/^\./, ""));
}
