// The process that asks SQLite. A thread would not do: a query that takes too long does not let go of its
// thread, while a process can be ended at any moment. Should nobody be left to end it, its own second thread
// does.

import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { SqliteReader, type SqliteRequest } from "./sqlite-reader.ts";

/** Whoever asked ends a late process first. */
const SPARE_MS = 2000;

if (isMainThread) serve();
else watch();

function serve(): void {
  const reader = new SqliteReader();
  const watcher = new Worker(new URL(import.meta.url), { execArgv: [] });
  watcher.unref();
  process.on("message", (request: SqliteRequest) => {
    watcher.postMessage(request.limits.ms + SPARE_MS);
    const answer = reader.ask(request);
    watcher.postMessage(0);
    process.send?.(answer);
  });
  // Whoever started this process is gone.
  process.on("disconnect", () => process.exit());
}

/** A message is the time from now on that the other thread may take; 0 means that it is done. */
function watch(): void {
  let timer: NodeJS.Timeout | undefined;
  parentPort?.on("message", (ms: number) => {
    clearTimeout(timer);
    if (ms > 0) timer = setTimeout(() => process.kill(process.pid, "SIGKILL"), ms);
  });
}
