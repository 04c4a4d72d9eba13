// Numbers and times as people read them. Nothing here is ever negative or not a number.

const whole = new Intl.NumberFormat("en");

export const count = (value: number): string => whole.format(Number.isFinite(value) ? Math.max(0, value) : 0);

export function duration(ms: number): string {
  const given = Number.isFinite(ms) ? Math.max(0, ms) : 0;
  if (given < 1_000) return `${Math.round(given)} ms`;
  const seconds = given / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** How long ago, roughly. */
export function age(at: number, now: number): string {
  const seconds = Math.max(0, now - at) / 1_000;
  if (seconds < 60) return "just now";
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.floor(hours / 24);
  return days < 60 ? `${days} d ago` : new Date(at).toISOString().slice(0, 10);
}

export const clock = (at: number): string => {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? "" : `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
};

export function money(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function size(characters: number): string {
  if (characters < 1_000) return `${characters} characters`;
  return characters < 1_000_000
    ? `${(characters / 1_000).toFixed(1)} kB`
    : `${(characters / 1_000_000).toFixed(1)} MB`;
}

export const shortDigest = (digest: string): string => digest.replace(/^sha256[:-]/, "").slice(0, 10);

/** Characters that show nothing, or turn the reading direction, are shown by name. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? "␡" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

const HIDDEN = new RegExp(
  `[${[
    "\\u0000-\\u0008\\u000b\\u000c\\u000d\\u000e-\\u001f\\u007f-\\u009f",
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff",
  ].join("")}]`,
  "g",
);
