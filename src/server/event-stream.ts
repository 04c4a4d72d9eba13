// Server-sent events as a response. The client's pace is the stream's: the next event is made when the last
// one has left. A comment now and then keeps the connection, and shows when nobody is there any more.

import type { Reader } from "./feed.ts";

const HEARTBEAT_MS = 15_000;

export function eventStream(
  events: AsyncGenerator<string>,
  reader: Pick<Reader<unknown>, "leave">,
  heartbeatMs = HEARTBEAT_MS,
): Response {
  const encoder = new TextEncoder();
  let pending: Promise<IteratorResult<string, void>> | undefined;
  const leave = async (): Promise<void> => {
    reader.leave();
    await events.return(undefined);
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // An event that was waited for in vain is still to come.
        pending ??= events.next();
        const beat = timer(heartbeatMs);
        const next = await Promise.race([pending, beat.promise]).finally(beat.clear);
        if (next === "beat") return controller.enqueue(encoder.encode(":\n\n"));
        pending = undefined;
        if (next.done !== true) return controller.enqueue(encoder.encode(next.value));
        reader.leave();
        return controller.close();
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  const headers = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  };
  return new Response(body, { headers });
}

function timer(ms: number): { readonly promise: Promise<"beat">; readonly clear: () => void } {
  let handle: NodeJS.Timeout | undefined;
  const promise = new Promise<"beat">((resolve) => {
    handle = setTimeout(resolve, ms, "beat");
  });
  return { promise, clear: () => clearTimeout(handle) };
}
