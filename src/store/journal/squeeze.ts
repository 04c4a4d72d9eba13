// Compression of what is too large for `turn-text.ts` to matter: blobs, snapshots, programs.

import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/**
 * The hard maximum of a turn is far below; a damaged length must not make us ask for more memory than this.
 */
const PLAIN_MAX = 1 << 30;

const options = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };

export const squeeze = (text: string): Uint8Array => zstdCompressSync(text, options);

/** Throws when the bytes are damaged. */
export const unsqueeze = (bytes: Uint8Array): string =>
  zstdDecompressSync(bytes, { maxOutputLength: PLAIN_MAX }).toString("utf8");
