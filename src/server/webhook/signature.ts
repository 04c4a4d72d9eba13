// Standard Webhooks 1.0: who gets a webhook can tell that it is from here and new.

import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** 24 to 64 bytes; ours have 32. */
export const newSecret = (): string => `${PREFIX}${randomBytes(32).toString("base64")}`;

export const isSecret = (text: string): boolean => {
  if (!text.startsWith(PREFIX)) return false;
  const encoded = text.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded && bytes.length >= 24 && bytes.length <= 64;
};

export const keyOfSecret = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), "base64");

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
  const signatures = secrets.map((secret) => {
    return `v1,${createHmac("sha256", keyOfSecret(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
