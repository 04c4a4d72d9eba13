// Standard Webhooks 1.0: who gets a webhook can tell that it is from here and new. Both sides know the secret
// (v1, HMAC-SHA256), or only this one does and the other has its public half (v1a, Ed25519).

import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";

const SHARED = "whsec_";
const PRIVATE = "whsk_";
const PUBLIC = "whpk_";

export type SignatureKind = "v1" | "v1a";

/** 24 to 64 bytes; ours have 32. A private key is its seed and its public half. */
export function newSecret(kind: SignatureKind = "v1"): string {
  const bytes = randomBytes(32);
  if (kind === "v1") return `${SHARED}${bytes.toString("base64")}`;
  return `${PRIVATE}${Buffer.concat([bytes, publicBytes(privateKey(bytes))]).toString("base64")}`;
}

/** What is signed with: a secret that both sides know, or a private key. */
export function isSecret(text: string): boolean {
  const shared = bytesOf(SHARED, text);
  if (shared !== undefined) return shared.length >= 24 && shared.length <= 64;
  const bytes = bytesOf(PRIVATE, text);
  if (bytes === undefined || (bytes.length !== 32 && bytes.length !== 64)) return false;
  return bytes.length === 32 || publicBytes(privateKey(bytes)).equals(bytes.subarray(32));
}

/** What somebody else's signature is verified with: a secret that both sides know, or a public key. */
export const isVerifier = (text: string): boolean =>
  text.startsWith(SHARED) ? isSecret(text) : bytesOf(PUBLIC, text)?.length === 32;

export const kindOf = (secret: string): SignatureKind => (secret.startsWith(SHARED) ? "v1" : "v1a");

/** Null where both sides know the secret. */
export function publicKeyOf(secret: string): string | null {
  const bytes = bytesOf(PRIVATE, secret);
  return bytes === undefined ? null : `${PUBLIC}${publicBytes(privateKey(bytes)).toString("base64")}`;
}

export const keyOfSecret = (secret: string): Buffer => Buffer.from(secret.slice(SHARED.length), "base64");

export const keyOfPublic = (text: string): KeyObject =>
  createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: base64url(text.slice(PUBLIC.length)) },
    format: "jwk",
  });

export interface Signed {
  readonly id: string;
  /** Whoever knows one of them can tell: after a change the old one signs as well for a while. */
  readonly secrets: readonly string[];
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export function signatureHeaders({ id, secrets, body, at }: Signed): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const text = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map((secret) => `${kindOf(secret)},${signature(secret, text)}`);
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

function signature(secret: string, text: string): string {
  const bytes = bytesOf(PRIVATE, secret);
  if (bytes === undefined) return createHmac("sha256", keyOfSecret(secret)).update(text).digest("base64");
  return sign(null, Buffer.from(text), privateKey(bytes)).toString("base64");
}

/** Undefined when it is not written like that. */
function bytesOf(prefix: string, text: string): Buffer | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const encoded = text.slice(prefix.length);
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes : undefined;
}

/** Of an Ed25519 key in PKCS #8, before its seed. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

const privateKey = (bytes: Buffer): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, bytes.subarray(0, 32)]),
    format: "der",
    type: "pkcs8",
  });

function publicBytes(key: KeyObject): Buffer {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  return Buffer.from(x, "base64url");
}

const base64url = (text: string): string => Buffer.from(text, "base64").toString("base64url");
