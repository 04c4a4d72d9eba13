// Server-sent events read from a bare socket, so that a test decides at which byte it hangs up.

import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface ReadEvent {
  readonly id: number | undefined;
  readonly name: string;
  readonly data: unknown;
}

export interface Taken {
  readonly status: number;
  /** Only those that had come whole. */
  readonly events: readonly ReadEvent[];
  /** The server ended the stream. */
  readonly ended: boolean;
}

export interface ReadOptions {
  readonly after?: number;
  /** Hangs up after so many bytes; reads to the end when left out. */
  readonly bytes?: number;
}

export async function readEvents(url: string, path: string, options: ReadOptions = {}): Promise<Taken> {
  const socket = openStream(url, path, options.after);
  const chunks: Buffer[] = [];
  let left = options.bytes ?? Number.POSITIVE_INFINITY;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, Math.min(left, chunk.length)));
    left -= chunk.length;
    if (left <= 0) break;
  }
  socket.destroy();
  return { ...eventsIn(Buffer.concat(chunks).toString("utf8")), ended: left > 0 };
}

export function openStream(url: string, path: string, after?: number): Socket {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const last = after === undefined ? "" : `Last-Event-ID: ${after}\r\n`;
  // HTTP/1.0 spares the test the chunks of 1.1, and the server closes at the end.
  socket.write(`GET ${path} HTTP/1.0\r\nHost: ${host}\r\n${last}\r\n`);
  return socket;
}

export function eventsIn(text: string): Pick<Taken, "status" | "events"> {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1] ?? 0);
  // What stands behind the last empty line was cut off.
  const blocks = rest.join("\r\n\r\n").split("\n\n").slice(0, -1);
  const events = blocks.flatMap((block): readonly ReadEvent[] => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
    const [name, data, id] = [field("event"), field("data"), field("id")];
    if (name === undefined || data === undefined) return [];
    return [{ id: id === undefined ? undefined : Number(id), name, data: JSON.parse(data) as unknown }];
  });
  return { status, events };
}

/** Resolves when the socket has got something. */
export async function firstBytes(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString("utf8");
}
