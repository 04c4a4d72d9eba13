// The key that cards of agents are signed with: from a file, its public half for those who verify, and the
// signature itself (RFC 7515). Made with the platform's own cryptography.

import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
} from "node:crypto";
import { canonical, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { Fault } from "../../engine/ports.ts";

interface Algorithm {
  readonly alg: string;
  readonly hash: string | null;
  readonly options: Omit<SignKeyObjectInput, "key">;
}

const ec = { dsaEncoding: "ieee-p1363" } as const;
const rsa = { padding: constants.RSA_PKCS1_PADDING };

/** By type and curve, as a JWK has them. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  ["OKP Ed25519", { alg: "EdDSA", hash: null, options: {} }],
  ["EC P-256", { alg: "ES256", hash: "sha256", options: ec }],
  ["EC P-384", { alg: "ES384", hash: "sha384", options: ec }],
  ["EC P-521", { alg: "ES512", hash: "sha512", options: ec }],
  ["RSA ", { alg: "RS256", hash: "sha256", options: rsa }],
]);

/** Members that the thumbprint of a key is made of (RFC 7638), by type. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  OKP: ["crv", "kty", "x"],
  EC: ["crv", "kty", "x", "y"],
  RSA: ["e", "kty", "n"],
};

const RSA_BITS_MIN = 2048;

export interface CardKey {
  readonly kid: string;
  readonly alg: string;
  /** Without its private part, as a JWK. */
  readonly publicKey: JsonObject;
  /** The protected header and the signature, in base64url. */
  readonly sign: (
    payload: string,
    header: JsonObject,
  ) => { readonly protected: string; readonly signature: string };
}

/** Of a private key as JWK or PEM. Throws a fault that shows nothing of it. */
export function readCardKey(text: string): CardKey {
  const { key, kid: named } = privateKeyIn(text);
  const jwk = createPublicKey(key).export({ format: "jwk" }) as JsonObject;
  const { kty, crv = "" } = jwk as { kty: string; crv?: string };
  const algorithm = ALGORITHMS.get(`${kty} ${crv}`);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? RSA_BITS_MIN;
  if (algorithm === undefined || bits < RSA_BITS_MIN) throw unusable();
  const { alg, hash, options } = algorithm;
  const kid = named ?? thumbprint(jwk, kty);
  return {
    kid,
    alg,
    publicKey: { ...jwk, kid, alg, use: "sig" },
    sign(payload, header) {
      const head = base64url(JSON.stringify({ alg, typ: "JOSE", kid, ...header }));
      const signed = sign(hash, Buffer.from(`${head}.${base64url(payload)}`), { key, ...options });
      return { protected: head, signature: signed.toString("base64url") };
    },
  };
}

function privateKeyIn(text: string): { readonly key: KeyObject; readonly kid: string | undefined } {
  try {
    if (!text.trimStart().startsWith("{")) return { key: createPrivateKey(text), kid: undefined };
    const jwk = JSON.parse(text) as Json;
    if (!isObject(jwk)) throw unusable();
    const { kid } = jwk;
    return {
      key: createPrivateKey({ key: jwk, format: "jwk" }),
      kid: typeof kid === "string" ? kid : undefined,
    };
  } catch (error) {
    // What the platform says of a key that it cannot read may quote it.
    if (error instanceof SyntaxError || (error instanceof Error && "code" in error)) throw unusable();
    throw error;
  }
}

const unusable = (): Fault =>
  new Fault(
    "bad-key",
    "it is not a private key (give Ed25519, EC P-256 to P-521 or RSA from 2048 bits, as JWK or PEM)",
    { retry: "never" },
  );

function thumbprint(jwk: JsonObject, kty: string): string {
  const members = Object.fromEntries((MEMBERS[kty] ?? []).map((name) => [name, jwk[name] ?? null]));
  return createHash("sha256").update(canonical(members)).digest("base64url");
}

const base64url = (text: string): string => Buffer.from(text).toString("base64url");
