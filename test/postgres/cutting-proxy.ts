// A proxy between a program and a database that cuts connections at a chosen statement: before it is passed on,
// so that it is never done, or after the server has done it and before its answer is passed on. A connection can
// also go silent there, as when a machine loses its power, or be refused twice at once.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Cut {
  /** Bytes of the statement's message. */
  readonly at: string;
  readonly when: "before" | "after";
  /** Instead of being closed. */
  readonly how?: "silent" | "refused";
}

export class CuttingProxy implements AsyncDisposable {
  readonly #socket: string;
  readonly #open = new Set<Socket>();
  #next: Cut | undefined;
  cuts = 0;
  /** Connections that were refused and are over. */
  readonly parted = Promise.withResolvers<void>();
  readonly #server = createServer((client) => this.#join(client));

  private constructor(socket: string) {
    this.#socket = socket;
  }

  static async open(socket: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(socket);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `postgresql://owner@127.0.0.1:${(this.#server.address() as AddressInfo).port}/postgres`;
  }

  /** Once, at the next such statement. */
  cut(next: Cut): void {
    this.#next = next;
  }

  #join(client: Socket): void {
    const server = connect(this.#socket);
    let isDone = false;
    let how: Cut["how"];
    const end = () => {
      if (how === "silent") return;
      client.destroy();
      server.destroy();
      this.#open.delete(client);
    };
    this.#open.add(client);
    client.on("data", (data) => {
      const found = this.#next !== undefined && data.includes(this.#next.at) ? this.#next : undefined;
      if (found === undefined) return void (how === "silent" || server.write(data));
      this.#next = undefined;
      this.cuts++;
      how = found.how;
      if (how === "refused") {
        client.once("close", this.parted.resolve);
        // The second finds nobody who waits for an answer.
        return void client.end(Buffer.concat([REFUSED, REFUSED]));
      }
      if (found.when === "before") return end();
      isDone = true;
      server.write(data);
    });
    server.on("data", (data) => {
      // The answer to the statement ends with the server's readiness for the next.
      if (!isDone) client.write(data);
      else if (data.subarray(-6).equals(READY)) end();
    });
    for (const side of [client, server]) side.on("error", end).on("close", end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#open) client.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** An error that ends the connection. */
const fields = Buffer.from("SFATAL\0VFATAL\0C57P01\0Mgoing\0\0");
const REFUSED = Buffer.concat([Buffer.from([0x45, 0, 0, 0, fields.length + 4]), fields]);

/** ReadyForQuery, outside of a transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
