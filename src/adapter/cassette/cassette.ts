// A cassette as the model and the tools of a run: what was answered once is answered again to the same
// question. Nothing outside is asked, and the first question that is not in it is named and ends the run.
// It holds nothing but its entries, so a killed replay goes on where it was.

import { deepEqual, type Json, type JsonObject, toPointer } from "../../base/json.ts";
import type { ModelReply } from "../../core/facts.ts";
import { type ModelRequest, requestText } from "../../core/request.ts";
import {
  type CallContext,
  Fault,
  type ModelPort,
  type ToolAnswer,
  type ToolPort,
} from "../../engine/ports.ts";
import { askedHash, stepOf } from "./asked-hash.ts";
import { type CassetteEntry, type CassetteTerms, pathShown, readCassetteFile } from "./cassette-file.ts";
import { firstDifference } from "./first-difference.ts";

/** Throws `bad_cassette` when the file cannot be used. `clean` keeps secrets out of what is said. */
export function readCassette(file: string, clean: <T>(value: T) => T = (value) => value): Cassette {
  const { terms, entries } = readCassetteFile(file);
  return new Cassette(terms, entries, { name: pathShown(file), clean });
}

class Cassette {
  readonly terms: CassetteTerms;
  readonly model: ModelPort;
  readonly tools: ToolPort;
  readonly #name: string;
  readonly #clean: <T>(value: T) => T;
  readonly #entries: readonly CassetteEntry[];
  /** What went wrong first: everything after it only follows from it. */
  #missed: Fault | undefined;

  constructor(
    terms: CassetteTerms,
    entries: readonly CassetteEntry[],
    { name, clean }: { readonly name: string; readonly clean: <T>(value: T) => T },
  ) {
    this.terms = terms;
    this.#entries = entries;
    this.#name = name;
    this.#clean = clean;
    this.model = {
      call: async (request: ModelRequest, context) => {
        const asked = JSON.parse(requestText(request)) as JsonObject;
        const reply = this.#answer("model", asked, context) as unknown as ModelReply;
        context.delta?.(reply.text);
        return reply;
      },
    };
    this.tools = {
      knows: (tool) => this.#ofTool(tool).length > 0,
      // Nothing happens outside, unless it was unknown what had happened: that is to be so again (S46).
      isSafe: (tool) => !this.#ofTool(tool).some(({ fault }) => fault?.retry === "unknown"),
      call: async (tool, args, context) => this.#toolAnswer({ tool, args }, context),
    };
  }

  /** What waited for somebody waits again, but never for a time: that is over. */
  #toolAnswer(asked: JsonObject, context: CallContext): ToolAnswer {
    const answer = this.#answer("tool", asked, context) as unknown as ToolAnswer;
    if (!("deferred" in answer)) return answer;
    if (context.input !== undefined) throw this.#miss("tool", asked, context);
    const { question } = answer;
    return { deferred: true, ...(question !== undefined && { question }) };
  }

  #ofTool(tool: string): readonly CassetteEntry[] {
    return this.#entries.filter(({ kind, asked }) => kind === "tool" && asked["tool"] === tool);
  }

  #answer(kind: CassetteEntry["kind"], asked: JsonObject, context: CallContext): Json {
    if (this.#missed !== undefined) throw this.#missed;
    const { answer, fault } = this.#find(kind, asked, context) ?? {};
    if (answer !== undefined) return answer;
    if (fault !== undefined)
      throw new Fault(fault.code, fault.message, {
        retry: fault.retry === "unknown" ? "unknown" : "never",
      });
    throw this.#miss(kind, asked, context);
  }

  #miss(kind: CassetteEntry["kind"], asked: JsonObject, context: CallContext): Fault {
    this.#missed = new Fault("cassette_miss", this.#missing(kind, asked, context), { retry: "never" });
    return this.#missed;
  }

  /** The same step; where the steps moved, the same call of its kind, or the one that came before it. */
  #find(kind: CassetteEntry["kind"], asked: JsonObject, context: CallContext): CassetteEntry | undefined {
    const { nth } = context;
    const step = stepOf(context);
    const wanted = askedHash(asked);
    const fitting = this.#entries.filter((entry) => entry.kind === kind && entry.hash === wanted);
    // A step that was tried again was recorded again; what came last was kept.
    return (
      fitting.findLast((entry) => entry.step === step) ??
      fitting.findLast((entry) => entry.nth === nth) ??
      fitting.findLast((entry) => entry.nth < nth) ??
      fitting[0]
    );
  }

  #missing(kind: CassetteEntry["kind"], asked: JsonObject, context: CallContext): string {
    const { state, nth } = context;
    const step = stepOf(context);
    const whom = kind === "model" ? "the model" : `tool \`${String(asked["tool"])}\``;
    const where = `step ${step} in \`${state}\` asks ${whom} what \`${this.#name}\` does not hold`;
    const alike = this.#entries.filter((entry) => entry.kind === kind);
    const near =
      alike.findLast((entry) => entry.step === step) ??
      alike.findLast((entry) => entry.state === state && entry.nth === nth) ??
      alike.findLast((entry) => entry.state === state);
    if (near === undefined) return `${where} (record it again)`;
    const now = this.#clean(asked);
    if (near.hash === askedHash(asked))
      return `${where}: recorded step ${near.step} was never answered (record it again)`;
    if (deepEqual(near.asked, now)) return `${where}: only a secret is another (record it again)`;
    const difference = firstDifference(near.asked, now);
    const at = difference.path.length === 0 ? "" : ` at ${toPointer(difference.path)}`;
    return `${where}: recorded step ${near.step} differs${at}: ${difference.before} became ${difference.now} (record it again)`;
  }
}
