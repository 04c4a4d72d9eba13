// The agent as a plugin of protocol v2: one request on standard input, one response on standard output.
// Exit 0 whenever a document was printed, 78 for what is not a request of protocol 2, 1 only when nothing
// could be.

import { readFileSync, writeSync } from "node:fs";
import { answerRequest } from "./answer-request.ts";
import { readRequest } from "./loop-request.ts";

const EXIT_CONFIG = 78;

/** Before anything else: relative paths of a host are meant from here. */
const cwd = process.cwd();

const request = readRequest(readFileSync(0, "utf8"), cwd);
if (request === undefined) {
  process.stderr.write("standard input holds no request of protocol 2\n");
  process.exit(EXIT_CONFIG);
}
const response = Buffer.from(`${JSON.stringify(await answerRequest(request, { clock: Date.now, cwd }))}\n`);
for (let at = 0; at < response.length; ) at += written(response, at);
process.exit(0);

/** A pipe that is full for now is tried again. */
function written(bytes: Buffer, at: number): number {
  try {
    return writeSync(1, bytes, at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return 0;
  }
}
