// SHA-256 of a text, where neither Node nor a browser's crypto may be asked.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

export const sha256Of = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));
