// Stands between a client and a server and hangs up in the middle of answers, at bytes that a seed decides.

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { dice } from "../server/dice.ts";

export interface CuttingProxy {
  readonly url: string;
  /** Resolves when it has hung up as often as it may. */
  readonly done: Promise<void>;
}

interface Cutting {
  readonly seed: number;
  /** It hangs up no more often. */
  readonly most: number;
}

/** Every stream is cut after a few events, and every fifth of the other answers. */
export async function cuttingProxy(target: string, { seed, most }: Cutting): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const roll = dice(seed);
  const sockets = new Set<Socket>();
  let cuts = 0;
  const done = Promise.withResolvers<void>();
  const bytesLeft = (request: string): number => {
    if (!request.startsWith("GET") || cuts >= most) return Number.POSITIVE_INFINITY;
    if (/^GET \S+\/stream/.test(request)) return 300 + roll(900);
    return roll(5) === 0 ? roll(2_000) : Number.POSITIVE_INFINITY;
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const close = (): void => {
      client.destroy();
      upstream.destroy();
    };
    let left = Number.POSITIVE_INFINITY;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Whichever side goes first takes the other with it.
      socket.on("error", close).on("close", close);
    }
    client.on("data", (bytes) => {
      left = bytesLeft(bytes.toString("latin1"));
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      client.write(bytes.subarray(0, Math.min(left, bytes.length)));
      left -= bytes.length;
      if (left > 0) return;
      if (++cuts === most) done.resolve();
      client.end(close);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address() as { readonly port: number };
  return { url: `http://127.0.0.1:${address.port}`, done: done.promise };
}
