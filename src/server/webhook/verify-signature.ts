// Whether a request is from who it says, whole, and new: Standard Webhooks 1.0, and Slack's way of signing.

import { createHmac, timingSafeEqual, verify } from "node:crypto";
import { keyOfPublic, keyOfSecret, kindOf } from "./signature.ts";

/** How old a request may be, or how far ahead the sender's clock. */
const TOLERANCE_MS = 5 * 60 * 1000;

/** Signatures looked at; more are sent by nobody who means well. */
const SIGNATURES_MAX = 10;

export interface SignedRequest {
  readonly secret: string;
  readonly body: Buffer;
  readonly header: (name: string) => string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export type Verified =
  /** `id` is the same when the same thing is sent again. */
  { readonly ok: true; readonly id: string } | { readonly ok: false; readonly why: string };

export function verifyStandard({ secret, body, header, now }: SignedRequest): Verified {
  const [id, timestamp, signatures] = [
    header("webhook-id") ?? "",
    header("webhook-timestamp") ?? "",
    header("webhook-signature") ?? "",
  ];
  if (id === "" || id.length > 255) return refused("it has no webhook-id");
  const late = lateness(timestamp, now);
  if (late !== undefined) return refused(late);
  const kind = kindOf(secret);
  const text = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const given = signatures.split(" ").slice(0, SIGNATURES_MAX);
  const fits = given.some((one) => {
    const [name, signature = ""] = one.split(",", 2);
    return name === kind && isSigned(secret, text, Buffer.from(signature, "base64"));
  });
  return fits ? { ok: true, id } : refused("no signature of it fits");
}

function isSigned(secret: string, text: Buffer, signature: Buffer): boolean {
  if (kindOf(secret) === "v1a")
    return signature.length === 64 && verify(null, text, keyOfPublic(secret), signature);
  return same(signature, createHmac("sha256", keyOfSecret(secret)).update(text).digest());
}

/** A button that is pressed comes once; a repetition has the same time and body. */
export function verifySlack({ secret, body, header, now }: SignedRequest): Verified {
  const timestamp = header("x-slack-request-timestamp") ?? "";
  const late = lateness(timestamp, now);
  if (late !== undefined) return refused(late);
  const expected = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest();
  const [version, signature = ""] = (header("x-slack-signature") ?? "").split("=");
  const fits = version === "v0" && same(Buffer.from(signature, "hex"), expected);
  return fits ? { ok: true, id: expected.toString("hex") } : refused("its signature does not fit");
}

const refused = (why: string): Verified => ({ ok: false, why });

function lateness(timestamp: string, now: number): string | undefined {
  if (!/^\d{1,12}$/.test(timestamp)) return "it has no timestamp";
  return Math.abs(now - Number(timestamp) * 1000) > TOLERANCE_MS
    ? "its timestamp is more than five minutes off"
    : undefined;
}

const same = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
