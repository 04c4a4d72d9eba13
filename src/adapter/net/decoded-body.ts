// The body of a response as it was before compression, with an eye on bombs: what unpacks to far more than a
// page would is cut off with a fault.

import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { Fault } from "../../engine/ports.ts";

/** Text of people and programs packs to a tenth or so; a bomb to a thousandth. */
const RATIO_MAX = 200;

/** Below this size nothing is worth a complaint. */
const RATIO_FROM_BYTES = 1_000_000;

const CODINGS_MAX = 2;

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/** What `Accept-Encoding` offers. */
export const OFFERED_CODINGS = "gzip, br, zstd";

/** The codings to undo, outermost last; undefined when one is unknown or there are too many. */
function codingsOf(header: string | undefined): readonly (() => Transform)[] | undefined {
  const names = (header ?? "").split(",").map((name) => name.trim().toLowerCase());
  const wanted = names.filter((name) => name !== "" && name !== "identity");
  const found = wanted.map((name) => decoders.get(name));
  if (wanted.length > CODINGS_MAX || found.includes(undefined)) return undefined;
  return (found as (() => Transform)[]).reverse();
}

/** Undefined when the response is packed in a way that is not known here. */
export function decodedBody(response: IncomingMessage): Readable | undefined {
  const codings = codingsOf(response.headers["content-encoding"]);
  if (codings === undefined) return undefined;
  const body = codings.length === 0 ? response : unpacking(response, codings);
  // The stream keeps its failure for whoever reads it; a failure before anybody does must not end the
  // process.
  return body.on("error", () => {});
}

function unpacking(response: IncomingMessage, codings: readonly (() => Transform)[]): Readable {
  let packed = 0;
  let unpacked = 0;
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      packed += chunk.length;
      done(null, chunk);
    },
  });
  const judging = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpacked += chunk.length;
      if (unpacked > RATIO_FROM_BYTES && unpacked > packed * RATIO_MAX) done(bomb(unpacked, packed));
      else done(null, chunk);
    },
  });
  // The reader hears of a failure through the last stream, which the pipeline destroys with it.
  pipeline([response, counting, ...codings.map((make) => make()), judging], () => {});
  return judging;
}

const bomb = (unpacked: number, packed: number): Fault =>
  new Fault(
    "decompression_bomb",
    `the answer unpacks to ${Math.round(unpacked / packed)} times its size (at most ${RATIO_MAX} times is read)`,
    { retry: "never" },
  );
