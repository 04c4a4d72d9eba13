// What happens in the gateway as server-sent events. A follower that comes back names the last event it saw
// and gets what it missed, as far as the ring goes back.

import { lastNotice, type Notice, noticesAfter } from "../queue/notices.ts";
import type { QueueFile } from "../queue/queue-file.ts";

const HEARTBEAT_MS = 15_000;

export function noticeStream(
  file: QueueFile,
  { after, signal }: { after: number | undefined; signal: AbortSignal },
): Response {
  const encoder = new TextEncoder();
  let seen = after ?? lastNotice(file);
  // Comes from another history when it is ahead of ours.
  if (seen > lastNotice(file)) seen = 0;
  let wake = () => {};
  const forget = file.onChange(() => wake());
  const leave = (): void => {
    forget();
    wake();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(":\n\n"));
      },
      async pull(controller) {
        let news = signal.aborted ? [] : noticesAfter(file, seen);
        if (news.length === 0 && !signal.aborted) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, HEARTBEAT_MS);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
            signal.addEventListener("abort", wake, { once: true });
          });
          signal.removeEventListener("abort", wake);
          news = signal.aborted ? [] : noticesAfter(file, seen);
        }
        // A follower acts on what it hears, so it hears nothing that the loss of power could undo.
        if (news.length > 0) await file.durable();
        if (signal.aborted) {
          leave();
          return controller.close();
        }
        seen = news.at(-1)?.seq ?? seen;
        return controller.enqueue(encoder.encode(news.length === 0 ? ":\n\n" : news.map(textOf).join("")));
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" };
  return new Response(body, { headers });
}

const textOf = ({ seq, name, data }: Notice): string =>
  `id: ${seq}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
