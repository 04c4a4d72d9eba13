// Whether a request is from who it says, whole, and new: Standard Webhooks 1.0, and Slack's way of signing.

import { createHmac, timingSafeEqual } from "node:crypto";
import { keyOfSecret } from "./signature.ts";

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
  const expected = createHmac("sha256", keyOfSecret(secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest();
  const given = signatures.split(" ").slice(0, SIGNATURES_MAX);
  const fits = given.some(
    (one) => one.startsWith("v1,") && same(Buffer.from(one.slice(3), "base64"), expected),
  );
  return fits ? { ok: true, id } : refused("no signature of it fits");
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
