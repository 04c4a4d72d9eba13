// The commit thread: takes one group after the other and answers each once it is on the disk. After an error
// of the disk it closes the file and answers nothing more.

import { parentPort, workerData } from "node:worker_threads";
import { must } from "../../base/assert.ts";
import { openAgain } from "./database.ts";
import {
  type FromThread,
  type PackedRequests,
  packReplies,
  type ThreadData,
  type ToThread,
  unpackRequests,
} from "./group-message.ts";
import { errorText, faultOf, isBusy } from "./store-fault.ts";
import { Writer } from "./writer.ts";

const port = must(parentPort, "the commit thread is started by a store");
const { path, options } = workerData as ThreadData;
const say = (message: FromThread): void => port.postMessage(message);

const db = openAgain(path, options);
const writer = new Writer(db);

port.on("message", (message: ToThread) => {
  if (message.kind === "close") stop();
  else write(message.group, message.forget);
});
say({ kind: "ready" });

function write(group: PackedRequests, forget: boolean): void {
  const start = performance.now();
  if (forget) writer.forget();
  try {
    const replies = writer.group(unpackRequests(group));
    say({ kind: "written", replies: packReplies(replies), ms: performance.now() - start });
  } catch (error) {
    const final = !isBusy(error);
    say({ kind: "failed", error: errorText(faultOf(error, path)), final });
    if (final) stop();
  }
}

/** Also after a failure has stopped it: the order to close may be on its way already. */
function stop(): void {
  if (db.isOpen) db.close();
  port.close();
}
