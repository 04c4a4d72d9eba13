// Connections to one database. Work that loses its connection is done again on a new one for as long as an
// outage may last; whoever writes says how to find out whether the lost attempt was kept.

import { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Client, Pool, PoolClient } from "pg";
import { Fault } from "../../engine/ports.ts";
import { type Address, badAddress } from "./address.ts";
import { faultOf, isLost, isToBeRepeated } from "./postgres-fault.ts";

export interface ConnectionOptions {
  readonly address: Address;
  readonly connections: number;
  /** How long the database may be away before work fails. */
  readonly outageMs: number;
  /** A statement without an answer by then went to a machine that is gone without a farewell. */
  readonly answerMs: number;
}

export type Query = Pick<PoolClient, "query">;

/** Pauses between attempts. */
const PAUSE_MS = 50;
const PAUSE_MAX_MS = 1_000;

export class Connections implements AsyncDisposable {
  readonly #pool: Pool;
  /** The driver forgets one that was refused for want of a password, and the server waits a minute for it. */
  readonly #sockets: ReadonlySet<Socket>;
  readonly #outageMs: number;
  /** For messages: without the password. */
  readonly place: string;
  #closed = false;

  private constructor(
    pool: Pool,
    options: { readonly place: string; readonly sockets: ReadonlySet<Socket>; readonly outageMs: number },
  ) {
    this.#pool = pool;
    this.#sockets = options.sockets;
    this.#outageMs = options.outageMs;
    this.place = options.place;
    // A connection that waits in the pool and dies is replaced by the next one that is needed.
    pool.on("error", () => undefined);
    // A statement that waits hears of it; without a listener, also after it was given back, the process ends.
    pool.on("connect", (client) => client.on("error", () => undefined));
  }

  static async open(options: ConnectionOptions): Promise<Connections> {
    const { default: pg } = await import("pg");
    const { url, options: settings } = options.address;
    const place = placeOf(pg.Client, url);
    const sockets = new Set<Socket>();
    const stream = () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    };
    const pool = new pg.Pool({
      stream,
      connectionString: url,
      application_name: "packloop",
      max: options.connections,
      connectionTimeoutMillis: 10_000,
      query_timeout: options.answerMs,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      options: settings,
    });
    return new Connections(pool, { place, sockets, outageMs: options.outageMs });
  }

  /** Once, without patience: for opening, where a wrong address is to be told at once. */
  async once<T>(work: (query: Query) => Promise<T>): Promise<T> {
    try {
      return await this.#attempt(work);
    } catch (error) {
      throw faultOf(error, this.place);
    }
  }

  /** Work that may be done twice. */
  read<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.write(work, async () => undefined);
  }

  /** `kept` looks whether an attempt whose end is unknown was kept, and gives its result if so. */
  async write<T>(
    work: (query: Query) => Promise<T>,
    kept: (query: Query) => Promise<T | undefined>,
  ): Promise<T> {
    const began = performance.now();
    let isUnknown = false;
    for (let pause = PAUSE_MS; ; pause = Math.min(pause * 2, PAUSE_MAX_MS)) {
      try {
        return await this.#attempt(
          async (query) => (isUnknown ? await kept(query) : undefined) ?? work(query),
        );
      } catch (error) {
        const passes = isLost(error) || isToBeRepeated(error);
        if (!passes || this.#closed || performance.now() - began > this.#outageMs)
          throw faultOf(error, this.place);
        isUnknown ||= isLost(error);
      }
      await wait(pause);
    }
  }

  /** Several statements, all kept or none. */
  transaction<T>(
    work: (query: Query) => Promise<T>,
    kept: (query: Query) => Promise<T | undefined>,
  ): Promise<T> {
    return this.write(async (query) => {
      await query.query("BEGIN");
      try {
        const result = await work(query);
        await query.query("COMMIT");
        return result;
      } catch (error) {
        if (!isLost(error)) await query.query("ROLLBACK");
        throw error;
      }
    }, kept);
  }

  /** A connection of one's own; the caller ends it by `release(true)`. */
  async own(): Promise<PoolClient> {
    return this.#pool.connect();
  }

  async #attempt<T>(work: (query: Query) => Promise<T>): Promise<T> {
    if (this.#closed) throw new Fault("store-unavailable", "the store is closed", { retry: "never" });
    const client = await this.#pool.connect();
    let broken = false;
    try {
      return await work(client);
    } catch (error) {
      broken = isLost(error);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pool.end();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** What the address leaves out the driver fills in; so does the place that messages name. */
function placeOf(Driver: typeof Client, url: string): string {
  try {
    const { host, port, database } = new Driver({ connectionString: url });
    // The driver would wait for such a connection for ever.
    if (!(port > 0 && port < 65_536)) throw new Error("its port is no port");
    const machine = host.includes(":") ? `[${host}]` : host;
    const isUsual = port === USUAL_PORT || host.startsWith("/");
    return `\`${machine}${isUsual ? "" : `:${port}`}/${database ?? ""}\``;
  } catch (error) {
    // Its words are about a file that it names, or about its form; never with the password.
    const said = error instanceof Error ? error.message : String(error);
    throw badAddress(`the store's address cannot be used: ${said}`, error);
  }
}

const USUAL_PORT = 5432;
