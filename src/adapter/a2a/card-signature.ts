// Signatures of agent cards: a JWS over the card in canonical form (A2A §8.4, RFC 7515). Verified with the
// platform's own cryptography, because the package's verifier prints what it thinks to standard output.

import { constants, createPublicKey, type VerifyKeyObjectInput, verify } from "node:crypto";
import type { AgentCard } from "@a2a-js/sdk";
import { isObject, type JsonObject } from "../../base/json.ts";

interface Algorithm {
  readonly hash: string | null;
  readonly kty: string;
  readonly options: Omit<VerifyKeyObjectInput, "key">;
}

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const ec = { dsaEncoding: "ieee-p1363" } as const;

/** What may sign. `none` and shared secrets prove nothing here. */
const ALGORITHMS: ReadonlyMap<unknown, Algorithm> = new Map<unknown, Algorithm>([
  ["ES256", { hash: "sha256", kty: "EC", options: ec }],
  ["ES384", { hash: "sha384", kty: "EC", options: ec }],
  ["ES512", { hash: "sha512", kty: "EC", options: ec }],
  ["RS256", { hash: "sha256", kty: "RSA", options: {} }],
  ["RS384", { hash: "sha384", kty: "RSA", options: {} }],
  ["RS512", { hash: "sha512", kty: "RSA", options: {} }],
  ["PS256", { hash: "sha256", kty: "RSA", options: pss }],
  ["PS384", { hash: "sha384", kty: "RSA", options: pss }],
  ["PS512", { hash: "sha512", kty: "RSA", options: pss }],
  ["EdDSA", { hash: null, kty: "OKP", options: {} }],
  ["Ed25519", { hash: null, kty: "OKP", options: {} }],
]);

const SIGNATURES_MAX = 20;

/** One of the card's signatures was made with the key, a JWK. */
export async function isSignedWith(card: AgentCard, key: JsonObject): Promise<boolean> {
  const { canonicalizeAgentCard } = await import("@a2a-js/sdk");
  const payload = Buffer.from(canonicalizeAgentCard(card)).toString("base64url");
  return card.signatures
    .slice(0, SIGNATURES_MAX)
    .some(({ protected: head, signature }) => isValid({ head, payload, signature }, key));
}

interface Signature {
  readonly head: string;
  readonly payload: string;
  readonly signature: string;
}

function isValid({ head, payload, signature }: Signature, key: JsonObject): boolean {
  const header = headerIn(head);
  const algorithm = ALGORITHMS.get(header["alg"]);
  const named = key["kid"] === undefined || key["kid"] === header["kid"];
  // A critical extension is one that we would have to understand.
  if (algorithm === undefined || algorithm.kty !== key["kty"] || !named || "crit" in header) return false;
  try {
    const signer = { key: createPublicKey({ key, format: "jwk" }), ...algorithm.options };
    return verify(
      algorithm.hash,
      Buffer.from(`${head}.${payload}`),
      signer,
      Buffer.from(signature, "base64url"),
    );
  } catch (error) {
    // What is no key, or no signature of its kind, has signed nothing.
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

function headerIn(head: string): JsonObject {
  try {
    const header: unknown = JSON.parse(Buffer.from(head, "base64url").toString());
    return isObject(header) ? header : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
