// The body of a request: read up to a size and within a time, and only as JSON of a sensible depth.

import { createHash } from "node:crypto";
import type { Json } from "../base/json.ts";
import { isDeeperThan } from "../base/json-depth.ts";
import { Problem } from "./problem.ts";

const DEPTH_MAX = 64;

export interface ReadBody {
  /** Undefined when there is none. */
  readonly value: Json | undefined;
  /** SHA-256 of the bytes. */
  readonly hash: string;
  /** As it came, where it is of a type that only the route can read. */
  readonly other: { readonly type: string; readonly bytes: Buffer } | undefined;
}

export interface BodyLimits {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  /** Whether a body of this type is the route's to read. */
  readonly isOther: (type: string) => boolean;
  /** What is to be sent where JSON is not. */
  readonly instead?: string | undefined;
}

export async function readBody(request: Request, limits: BodyLimits): Promise<ReadBody> {
  const bytes = await readBytes(request, limits);
  const hash = createHash("sha256").update(bytes).digest("hex");
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (limits.isOther(type)) return { value: undefined, hash, other: { type, bytes } };
  if (bytes.length === 0) return { value: undefined, hash, other: undefined };
  const { instead } = limits;
  if (!isJsonType(type) || instead !== undefined)
    throw new Problem(
      "unsupported-media-type",
      `\`${type}\` is not taken here (send ${instead ?? "application/json"})`,
    );
  return { value: jsonOf(bytes), hash, other: undefined };
}

export const isJsonType = (type: string): boolean =>
  type === "application/json" || /^application\/[\w.-]+\+json$/.test(type);

export async function readBytes(
  request: Request,
  { bytesMax, timeoutMs }: Pick<BodyLimits, "bytesMax" | "timeoutMs">,
): Promise<Buffer> {
  const tooLarge = () =>
    new Problem("payload-too-large", `the body has more than ${bytesMax} bytes`, {
      extras: { limit: bytesMax },
      // What is left of it is not read.
      headers: { connection: "close" },
    });
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge();
  if (request.body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  const late = withTimeout(timeoutMs);
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late.promise]);
      if (done) return Buffer.concat(chunks);
      size += value.byteLength;
      if (size > bytesMax) throw tooLarge();
      chunks.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => undefined);
    throw error instanceof Problem
      ? error
      : new Problem("bad-request", "the body was cut off", { cause: error });
  } finally {
    late.clear();
  }
}

function withTimeout(ms: number): { readonly promise: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<never>((_, reject) => {
    const message = `the body did not arrive within ${ms} ms`;
    timer = setTimeout(
      () => reject(new Problem("request-timeout", message, { headers: { connection: "close" } })),
      ms,
    );
  });
  return { promise, clear: () => clearTimeout(timer) };
}

export function jsonOf(bytes: Buffer): Json {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Problem("bad-json", "the body is not UTF-8");
  }
  checkDepth(text);
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Problem("bad-json", (error as SyntaxError).message.slice(0, 200), { cause: error });
  }
}

/** For whoever reads the JSON by other means. */
export function checkDepth(text: string): void {
  if (isDeeperThan(text, DEPTH_MAX))
    throw new Problem("bad-json", `the body is nested deeper than ${DEPTH_MAX} levels`);
}
