// Tells a client that asked for it how far the run it waits for is.

import type { McpCall } from "./mcp-call.ts";

/** Until the signal; what cannot be told is not worth failing a call for. */
export async function tellProgress(
  { parts, progress }: McpCall,
  run: string,
  signal: AbortSignal,
): Promise<void> {
  if (progress === undefined) return;
  const reader = parts.feed.follow(run);
  const stop = () => reader.stop();
  signal.addEventListener("abort", stop);
  let told = 0;
  try {
    while (!signal.aborted && !reader.stopped) {
      const changed = reader.next();
      reader.take();
      const record = await parts.store.record(run);
      if (record !== undefined && record.turn > told) {
        told = record.turn;
        await progress(told, record.state === null ? record.status : `${record.status} in ${record.state}`);
      }
      await changed;
    }
  } catch (error) {
    parts.log.debug({ run, err: error }, "progress could not be told");
  } finally {
    signal.removeEventListener("abort", stop);
    reader.leave();
  }
}
