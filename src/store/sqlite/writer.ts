// Writes groups of requests, each group in one transaction and so with one sync. Keeps nothing in memory
// between groups: what it goes by stands in the file, so the writers of two threads may take turns.

import type { DatabaseSync } from "node:sqlite";
import { squeeze } from "../journal/squeeze.ts";
import { sumOf } from "../journal/turn-hash.ts";
import { JournalWriter } from "./journal-writer.ts";
import type { CommitRequest, WriteReply, WriteRequest } from "./requests.ts";
import { errorText, isBusy, isFatal } from "./store-fault.ts";
import { Sweeper } from "./sweeper.ts";
import { TurnWriter } from "./turn-writer.ts";

export class Writer {
  readonly #db: DatabaseSync;
  readonly #sql: ReturnType<typeof statements>;
  readonly #turns: TurnWriter;
  readonly #journals: JournalWriter;
  readonly #sweeper: Sweeper;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#sql = statements(db);
    this.#turns = new TurnWriter(db);
    this.#journals = new JournalWriter(this.#turns);
    this.#sweeper = new Sweeper(db);
  }

  /** Throws when the disk is at fault; then none of the group may be acknowledged. */
  group(requests: readonly WriteRequest[]): readonly WriteReply[] {
    try {
      return this.#together(requests);
    } catch (error) {
      if (isFatal(error) || isBusy(error)) throw error;
      // One of them cannot be written. Each gets a transaction of its own, so that only that one fails.
      return requests.map((request) => this.#alone(request));
    }
  }

  /** One turn alone; most need neither a transaction nor a look at the turn before. */
  single(request: CommitRequest): WriteReply {
    let reply: WriteReply | undefined;
    try {
      reply = this.#turns.next(request);
    } catch (error) {
      // Whatever it is, a transaction of its own tells whose fault it is.
      if (isFatal(error) || isBusy(error)) throw error;
      this.forget();
    }
    return reply ?? (this.group([request])[0] as WriteReply);
  }

  /** Somebody else has written. */
  forget(): void {
    this.#turns.forget();
  }

  #alone(request: WriteRequest): WriteReply {
    try {
      return this.#together([request])[0] as WriteReply;
    } catch (error) {
      if (isFatal(error) || isBusy(error)) throw error;
      return { kind: "failed", error: errorText(error) };
    }
  }

  #together(requests: readonly WriteRequest[]): readonly WriteReply[] {
    this.#sql.begin.run();
    try {
      const replies = requests.map((request) => this.#write(request));
      this.#sql.commit.run();
      return replies.map((reply) => (reply.kind === "collected" ? this.#sweeper.vacuum() : reply));
    } catch (error) {
      this.#turns.forget();
      if (this.#db.isTransaction) this.#sql.rollback.run();
      throw error;
    }
  }

  #write(request: WriteRequest): WriteReply {
    switch (request.kind) {
      case "commit":
        return this.#turns.commit(request);
      case "fork":
        return this.#turns.fork(request);
      case "take":
        return this.#journals.take(request);
      case "program":
        return this.#putProgram(request.digest, squeeze(request.program), squeeze(request.source));
      case "settle":
        this.#turns.settle();
        return { kind: "done" };
      case "remove":
        this.#turns.forget();
        this.#sweeper.remove(request.runs);
        return { kind: "done" };
      case "collect":
        this.#turns.forget();
        if (request.sweep) this.#sweeper.sweep(request.keep);
        return { kind: "collected", freed: 0, more: true };
    }
  }

  #putProgram(digest: string, program: Uint8Array, source: Uint8Array): WriteReply {
    this.#sql.putProgram.run(digest, program, source, sumOf([digest], program, source));
    return { kind: "done" };
  }
}

function statements(db: DatabaseSync) {
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    rollback: db.prepare("ROLLBACK"),
    putProgram: db.prepare(
      "INSERT INTO program (digest, program, source, sum) VALUES (?, ?, ?, unhex(?)) ON CONFLICT (digest) DO NOTHING",
    ),
  };
}
