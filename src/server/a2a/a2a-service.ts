// What answers requests to agents as long as the server runs: the agents, and who is told about tasks.

import { isIPv4 } from "node:net";
import { LegacyRestTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { ServerCallContext } from "@a2a-js/sdk/server";
import type { MountRequest } from "../mount.ts";
import { Problem } from "../problem.ts";
import type { ServerParts } from "../server-parts.ts";
import type { Post } from "../webhook/webhook-sender.ts";
import { agentCard, type CardTerms, cardJson, cardResponse } from "./agent-card.ts";
import { AgentDirectory, type ServedAgent } from "./agent-directory.ts";
import type { CardKey } from "./card-key.ts";
import { JournalAgent } from "./journal-agent.ts";
import { answerJsonRpc } from "./json-rpc.ts";
import { OneAtATime } from "./one-at-a-time.ts";
import { PushBook } from "./push-book.ts";
import { PushSender } from "./push-sender.ts";
import { answerRest } from "./rest.ts";
import { type ServedRequest, versionOf } from "./served-request.ts";
import { CardSigner, KEYS_PATH } from "./sign-card.ts";
import { TaskIndex } from "./task-index.ts";

export interface A2aOptions {
  readonly tokenNeeded: boolean;
  /** Speaks 0.3 as well. */
  readonly a2aCompat: boolean;
  /** Begins the addresses on cards; without it what the client asked for does. */
  readonly publicUrl?: string | undefined;
  /** Where the server listens, and names by which it may be asked for beside addresses. */
  readonly host?: string | undefined;
  readonly hosts?: readonly string[] | undefined;
  /** Signs cards; without it they are not signed. */
  readonly a2aKey?: CardKey | undefined;
  /** Sends to the addresses of clients. */
  readonly post: Post;
  readonly pausesMs?: readonly number[] | undefined;
}

export class A2aService implements AsyncDisposable {
  readonly #parts: ServerParts;
  readonly #options: A2aOptions;
  readonly #directory = new AgentDirectory();
  readonly #starts = new OneAtATime();
  readonly #signer: CardSigner | undefined;
  readonly #book: PushBook;
  readonly #push: PushSender;
  readonly #index: TaskIndex;
  #swept: Promise<void> = Promise.resolve();

  constructor(parts: ServerParts, options: A2aOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#signer = options.a2aKey && new CardSigner(options.a2aKey);
    this.#index = new TaskIndex(parts);
    this.#book = new PushBook(parts.side);
    const { post, pausesMs } = options;
    this.#push = new PushSender({ book: this.#book, parts, post, pausesMs });
  }

  /** From here on clients are told. */
  begin(): this {
    this.#push.start();
    this.#index.begin();
    const { blobs, store, clock, log } = this.#parts;
    this.#swept = blobs.files
      .sweep(store, clock.now())
      .catch((error: unknown) =>
        log.warn({ err: error }, "files of runs that are gone could not be removed"),
      );
    return this;
  }

  turn(run: string): void {
    this.#push.turn(run);
    this.#index.turn(run);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#swept;
    await this.#index.close();
    await this.#push[Symbol.asyncDispose]();
  }

  async answer(mounted: MountRequest): Promise<Response> {
    const { request, path, params } = mounted;
    if (path.path === KEYS_PATH) return this.#keys();
    const { side } = this.#parts;
    const { pack, agent: key } = params;
    const agent =
      pack === undefined || key === undefined
        ? this.#directory.standing(side)
        : this.#directory.find(side, { pack, agent: key });
    if (path.scope === null) return this.#card(request, agent);
    const gone = new AbortController();
    const signal = AbortSignal.any([request.signal, gone.signal]);
    const { principal } = mounted;
    const terms = { parts: this.#parts, agent, principal, card: this.#cardTerms(request), signal };
    const own = { book: this.#book, push: this.#push, starts: this.#starts, index: this.#index };
    const handler = new JournalAgent({ ...terms, ...own });
    const served: ServedRequest = {
      request,
      version: this.#version(request),
      rest: restOf(request),
      log: this.#parts.log,
      leave: () => gone.abort(),
    };
    const isRpc = served.rest.length === 0;
    return isRpc ? answerJsonRpc(served, handler) : answerRest(served, handler);
  }

  /** What is not served is not even known by its number. */
  #version(request: Request): string {
    const version = versionOf(request);
    return version === "0.3" && !this.#options.a2aCompat ? "0.3 (or none)" : version;
  }

  async #card(request: Request, agent: ServedAgent): Promise<Response> {
    const terms = this.#cardTerms(request);
    const card = agentCard(agent, terms);
    if (!this.#options.a2aCompat || versionOf(request) !== "0.3")
      return cardResponse(request, agent, cardJson(terms.signer?.sign(card, terms.base) ?? card));
    // The one way the package gives to a card in the words of 0.3.
    const source = { getAuthenticatedExtendedAgentCard: async () => card };
    const legacy = new LegacyRestTransportHandler(source as never);
    const old = await legacy.getAuthenticatedExtendedAgentCard(new ServerCallContext());
    return cardResponse(request, agent, old);
  }

  #cardTerms(request: Request): CardTerms {
    const { tokenNeeded, a2aCompat, publicUrl } = this.#options;
    const base = publicUrl ?? new URL(request.url).origin;
    const signer = publicUrl !== undefined || this.#isOwn(base) ? this.#signer : undefined;
    return { base, tokenNeeded, compat: a2aCompat, signer };
  }

  /** Whoever asks by an address of somebody else must not get a signature for a card that leads there. */
  #isOwn(base: string): boolean {
    const { host, hosts = [] } = this.#options;
    const name = new URL(base).hostname.replace(/^\[(.*)\]$/, "$1");
    const isHere = name === "localhost" || name === "::1" || (isIPv4(name) && name.startsWith("127."));
    return isHere || [host, ...hosts].includes(name);
  }

  #keys(): Response {
    const { a2aKey } = this.#options;
    if (a2aKey === undefined) throw new Problem("not-found", "cards are not signed here");
    const headers = { "content-type": "application/jwk-set+json", "cache-control": "public, max-age=300" };
    return new Response(JSON.stringify({ keys: [a2aKey.publicKey] }), { headers });
  }
}

/** By the path as it was sent: what is encoded in a name is part of the name. */
function restOf(request: Request): readonly string[] {
  const [, , , , ...rest] = new URL(request.url).pathname.split("/");
  try {
    return rest.map((part) => decodeURIComponent(part));
  } catch (error) {
    throw new Problem("bad-request", "the address is not encoded as addresses are", { cause: error });
  }
}
