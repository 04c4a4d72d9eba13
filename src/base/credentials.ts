// Finds credentials in text: by the form their issuer gives them, and by a checksum where the form has one,
// else by how random they are. A credential is described, never quoted: what leaves this file are its kind,
// its public prefix and its length.

interface Credential {
  /** With its article: `an API key`. */
  readonly kind: string;
  /** The part that is the same in every such credential; empty when there is none. */
  readonly prefix: string;
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
}

/** The first credential in a text. `key` is the key the text is written under. */
export function findCredential(text: string, key: string | undefined): Credential | undefined {
  return issuedIn(text).next().value ?? namedSecrets(text, key).next().value;
}

/** All credentials in a text, in order; none lies within another. */
export function findCredentials(text: string): readonly Credential[] {
  if (text.length < LENGTH_MIN || !maybe.test(text)) return [];
  const all = [...issuedIn(text), ...namedSecrets(text, undefined)].sort((a, b) => a.start - b.start);
  let end = 0;
  return all.filter((one) => {
    const isFree = one.start >= end;
    if (isFree) end = one.end;
    return isFree;
  });
}

/** Those that are known by their form, the first of all first. */
function* issuedIn(text: string): Generator<Credential, undefined> {
  const found: Credential[] = [];
  for (const form of forms) {
    if (!form.hints.some((hint) => text.includes(hint))) continue;
    for (const match of text.matchAll(form.pattern)) {
      if (!form.accepts(match)) continue;
      const end = match.index + match[0].trimEnd().length;
      found.push({ kind: form.kind, prefix: match[1] ?? "", start: match.index, end });
    }
  }
  yield* found.sort((a, b) => a.start - b.start);
}

interface Form {
  readonly kind: string;
  /** Fixed texts, one of which every match holds; they make the usual text cheap to pass. */
  readonly hints: readonly string[];
  /** Group 1 is the public prefix, group 2 the secret part. */
  readonly pattern: RegExp;
  readonly accepts: (match: RegExpMatchArray) => boolean;
}

const random = (match: RegExpMatchArray): boolean => isRandom(match[2] ?? "");

const forms: readonly Form[] = [
  {
    kind: "an API key",
    hints: ["sk-"],
    pattern: /\b(sk-(?:ant-(?:[a-z]{2,8}\d\d-)?|proj-|svcacct-|admin-|or-v\d-)?)([A-Za-z0-9_-]{20,})/g,
    // Names with hyphens look alike, but few of them hold digits.
    accepts: (match) => random(match) && /\d/.test(match[2] as string),
  },
  {
    kind: "an API key",
    hints: ["AIza"],
    pattern: /\b(AIza)([A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])/g,
    accepts: random,
  },
  {
    kind: "a payment key",
    hints: ["k_live_"],
    pattern: /\b([sr]k_live_)([A-Za-z0-9]{16,})/g,
    accepts: random,
  },
  {
    kind: "an AWS access key",
    hints: ["AKIA", "ASIA"],
    pattern: /\b(AKIA|ASIA)([A-Z2-7]{16})(?![A-Z0-9])/g,
    accepts: random,
  },
  {
    kind: "a GitHub token",
    hints: ["gh"],
    pattern: /\b(gh[pousr]_)([A-Za-z0-9]{36})(?![A-Za-z0-9])/g,
    accepts: (match) => hasChecksum(match[2] as string),
  },
  {
    kind: "a GitHub token",
    hints: ["github_pat_"],
    pattern: /\b(github_pat_)([A-Za-z0-9]{22}_[A-Za-z0-9]{59})(?![A-Za-z0-9])/g,
    accepts: random,
  },
  {
    kind: "an npm token",
    hints: ["npm_"],
    pattern: /\b(npm_)([A-Za-z0-9]{36})(?![A-Za-z0-9])/g,
    accepts: (match) => hasChecksum(match[2] as string),
  },
  {
    kind: "a Slack token",
    hints: ["xox"],
    pattern: /\b(xox[abeoprs]-)([A-Za-z0-9-]{20,})/g,
    accepts: random,
  },
  {
    kind: "a Slack webhook",
    hints: ["hooks.slack.com"],
    pattern: /(hooks\.slack\.com\/services\/)(T[A-Z0-9]{6,}\/B[A-Z0-9]{6,}\/[A-Za-z0-9]{16,})/g,
    accepts: random,
  },
  {
    kind: "a private key",
    hints: ["PRIVATE KEY"],
    pattern: new RegExp(
      "(-----BEGIN )(?:[A-Z]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----" +
        // Each part ends where the next begins: a text of half a key must not be read in many ways.
        "(?:\\s|\\\\n){0,8}(?:[A-Za-z-]{1,40}: [^\\n]{0,200}\\n\\s{0,8}){0,3}" +
        "([A-Za-z0-9+/=]{40,}[A-Za-z0-9+/=\\s\\\\]*)",
      "g",
    ),
    accepts: random,
  },
  {
    kind: "a signed token",
    hints: ["eyJ"],
    pattern: /\b(eyJ)([A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{20,})/g,
    accepts: isSignedToken,
  },
];

const SECRET_NAME =
  "(?:[a-z0-9]{1,20}[_-]){0,3}(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key)";
const assigned = new RegExp(`\\b(${SECRET_NAME})["']?\\s{0,3}[:=]\\s{0,3}["']?([^\\s"'\`,;]{16,200})`, "gi");
const secretKey = new RegExp(`^${SECRET_NAME}$`, "i");

/** No form is shorter, nor a name with its value. */
const LENGTH_MIN = 20;

/** Every credential has one of these in it or before it, and most texts have none. */
const maybe = new RegExp(
  [...forms.flatMap(({ hints }) => hints), "pass|pwd|secret|token|key"].join("|"),
  "i",
);

/** Random values that a name says are secret: `password = …`, or the whole text under such a key. */
function* namedSecrets(text: string, key: string | undefined): Generator<Credential, undefined> {
  if (key !== undefined && secretKey.test(key) && text.length <= 200 && isSecretValue(text)) {
    yield { kind: kindOfName(key), prefix: "", start: 0, end: text.length };
    return;
  }
  if (!/[:=]/.test(text)) return;
  for (const match of text.matchAll(assigned)) {
    const value = match[2] as string;
    if (!isSecretValue(value)) continue;
    const start = match.index + match[0].length - value.length;
    yield { kind: kindOfName(match[1] as string), prefix: "", start, end: start + value.length };
  }
}

function kindOfName(name: string): string {
  if (/pass|pwd/i.test(name)) return "a password";
  return /key/i.test(name) ? "an API key" : "a secret";
}

/** Letters and digits mixed beyond what words, paths and identifiers do. */
function isSecretValue(value: string): boolean {
  if (value.length < 16 || /\s|:\/\/|^[./]|\(/.test(value)) return false;
  const digits = value.replace(/\D/g, "").length;
  return digits >= 3 && /[A-Za-z]/.test(value) && bitsPerCharacter(value) >= 3.5 && isRandom(value);
}

const PLACEHOLDER =
  /example|placeholder|your|insert|replace|dummy|fake|sample|change.?me|redact|x{4}|\*{3}|\.{3}|…|[<>{}%$]/i;

function isRandom(text: string): boolean {
  return bitsPerCharacter(text) >= 3 && !PLACEHOLDER.test(text);
}

/** Shannon entropy of the characters: 0 for a repeated one, 4 for hexadecimal digits, up to 6 for base 64. */
function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The last six characters are the CRC-32 of those before them, in base 62. */
function hasChecksum(body: string): boolean {
  let checksum = 0;
  for (const character of body.slice(-6)) checksum = checksum * 62 + BASE_62.indexOf(character);
  return checksum === crc32(body.slice(0, -6)) && !PLACEHOLDER.test(body);
}

function crc32(text: string): number {
  let crc = -1;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** The subject of the token that documentation shows everywhere. */
const SAMPLE_SUBJECT = '"1234567890"';

function isSignedToken(match: RegExpMatchArray): boolean {
  const [head = "", payload = "", signature = ""] = match[0].split(".");
  if (!fromBase64(head).includes('"alg"')) return false;
  return isRandom(signature) && !fromBase64(payload).includes(SAMPLE_SUBJECT);
}

const BASE_64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function fromBase64(text: string): string {
  let decoded = "";
  let bits = 0;
  let held = 0;
  for (const character of text) {
    bits = ((bits << 6) | BASE_64.indexOf(character)) & 0xffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    decoded += String.fromCharCode((bits >> held) & 0xff);
  }
  return decoded;
}
