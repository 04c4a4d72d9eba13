// The outside of the runs that workers drive: answers their calls, remembers what it answered, and looks at each
// call into the journal, where the call must be on record as asked and not as answered (G3, G5).

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Json } from "../../src/base/json.ts";
import type { Store } from "../../src/engine/ports.ts";
import { answerTo, type LedgerCall } from "./ledger-pack.ts";

export class Ledger implements AsyncDisposable {
  readonly calls: LedgerCall[] = [];
  /** What must not have come. */
  readonly wrong: string[] = [];
  readonly answers = new Map<string, Json>();
  readonly #store: Store;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => {
      this.wrong.push(String(error));
      response.destroy();
    });
  });
  /** Awaited before a call is answered. */
  called: (call: LedgerCall, nth: number) => Promise<void> = async () => undefined;

  private constructor(store: Store) {
    this.#store = store;
  }

  static async open(store: Store): Promise<Ledger> {
    const ledger = new Ledger(store);
    ledger.#server.listen(0, "127.0.0.1");
    await once(ledger.#server, "listening");
    return ledger;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = (await json(request)) as LedgerCall;
    this.wrong.push(...(await this.#objections(call)));
    this.calls.push(call);
    this.answers.set(call.key, this.answers.get(call.key) ?? answerTo(call));
    await this.called(call, this.calls.length);
    response.end(JSON.stringify(this.answers.get(call.key)));
  }

  async #objections({ run, name, key, step }: LedgerCall): Promise<readonly string[]> {
    const rows = await this.#store.rows(run, { from: 1, to: 1_000, limit: 1_000 });
    const facts = rows.flatMap((row) => row.facts);
    const about = (type: "asked" | "answered") =>
      facts.some((fact) => fact.type === type && fact.step === step);
    const isSent = facts.some((fact) => fact.type === "noted" && fact.what === "sent" && fact.step === step);
    return [
      ...(about("asked") ? [] : [`${name} ${key} came before it was recorded`]),
      ...(about("answered") ? [`${name} ${key} came after its answer was recorded`] : []),
      ...(name === "pay" && !isSent ? [`${name} ${key} left without a note that it does`] : []),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
