// An HTTP client for targets that others may choose. What holds for every request and every redirect of it:
// 1. the scheme is http or https, and the URL carries no credentials;
// 2. all addresses of the host are looked up once and judged; the connection goes to one of exactly those;
// 3. headers of the caller that may be secret do not follow to another origin;
// 4. no proxy variable is heard, no connection is shared, and time and size are bounded.

import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { must } from "../../base/assert.ts";
import { Fault } from "../../engine/ports.ts";
import { decodedBody, OFFERED_CODINGS } from "./decoded-body.ts";
import {
  type Address,
  addressesOf,
  hostOf,
  type NetRefusal,
  type NetRules,
  netRefusal,
  type Resolve,
  readTarget,
} from "./net-rules.ts";
import { nodeHttp, nodeHttps } from "./node-http.ts";

const REDIRECTS_MAX = 5;

/** A server that sends nothing for so long is given up, whatever the whole request may take. */
const IDLE_MS = 15_000;

export interface GuardedRequest {
  readonly url: string;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly rules: NetRules;
  /** For everything: looking up, connecting, redirects, and reading the body. */
  readonly timeoutMs: number;
  /** How long the server may send nothing. */
  readonly idleMs?: number;
  readonly signal: AbortSignal;
  /** A redirect is the answer and is not followed. */
  readonly stays?: true;
  /** How names are looked up; the system's way unless given. */
  readonly resolve?: Resolve;
}

export interface GuardedResponse {
  readonly ok: true;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Unpacked. To be read to its end or destroyed. Fails with a `Fault`'s cause; see `readBody`. */
  readonly body: Readable;
  /** Ends the request when its time is over or its caller gives up. */
  readonly signal: AbortSignal;
}

/** Headers that say nothing about who asks. Only these follow to another origin. */
const HARMLESS = new Set(["accept", "accept-language", "accept-encoding", "content-type", "user-agent"]);

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Resolves with the response once its head is there, or with why the request may not be made. */
export async function guardedRequest(request: GuardedRequest): Promise<GuardedResponse | NetRefusal> {
  const { rules } = request;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutMs)]);
  const target = readTarget(request.url, { rules });
  if (!target.ok) return target;
  let hop: Hop = { url: target.url, method: request.method, headers: request.headers, body: request.body };
  try {
    for (let redirects = 0; ; redirects++) {
      const found = await withSignal(
        addressesOf(hop.url, { rules, resolve: request.resolve ?? systemResolve }),
        signal,
      );
      if (!found.ok) return found;
      const response = await send(hop, found.addresses, { signal, idleMs: request.idleMs ?? IDLE_MS });
      const location = request.stays === true ? undefined : redirectOf(response);
      if (location === undefined) return opened(response, hop, signal);
      response.destroy();
      if (redirects === REDIRECTS_MAX) {
        return netRefusal(
          "redirect_refused",
          `\`${request.url}\` redirects more than ${REDIRECTS_MAX} times`,
        );
      }
      const next = nextHop(hop, { location, status: response.statusCode ?? 0, rules });
      if ("ok" in next) return next;
      hop = next;
    }
  } catch (error) {
    throw faultOf(error, { host: hostOf(hop.url), signal, givenUp: request.signal });
  }
}

function opened(response: IncomingMessage, { url, method }: Hop, signal: AbortSignal) {
  const body = method === "HEAD" ? response.on("error", () => {}) : decodedBody(response);
  if (body === undefined) {
    response.destroy();
    const coding = response.headers["content-encoding"];
    return netRefusal("encoding_refused", `the answer is packed as \`${coding}\`, which is not read here`);
  }
  const { headers, statusCode = 0 } = response;
  return { ok: true as const, url: url.href, status: statusCode, headers, body, signal };
}

/** Reads at most `maxBytes`; the rest is left unread, and `truncated` says so. */
export async function readBody(
  response: GuardedResponse,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<{ readonly bytes: Buffer; readonly truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      // Leaving the loop destroys the stream and with it the connection.
      if (size > maxBytes) break;
    }
  } catch (error) {
    throw faultOf(error, { host: new URL(response.url).hostname, signal: response.signal, givenUp: signal });
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes };
}

function send(
  hop: Hop,
  addresses: readonly Address[],
  { signal, idleMs }: { readonly signal: AbortSignal; readonly idleMs: number },
): Promise<IncomingMessage> {
  if (addresses.length === 0) return Promise.reject(new Error("the name has no address"));
  const secure = hop.url.protocol === "https:";
  const http = secure ? nodeHttps() : nodeHttp();
  const host = hostOf(hop.url);
  const judged = new BlockList();
  for (const { address, family } of addresses) judged.addAddress(address, family === 6 ? "ipv6" : "ipv4");
  return new Promise((resolve, reject) => {
    const request = http.request(hop.url, {
      method: hop.method,
      headers: {
        host: hop.url.host,
        "accept-encoding": OFFERED_CODINGS,
        ...hop.headers,
        ...(hop.body !== undefined && { "content-length": String(Buffer.byteLength(hop.body)) }),
      },
      hostname: host,
      ...(isIP(host) === 0 && { servername: host }),
      // An agent of its own: the shared one may be told by the environment to use a proxy.
      agent: new http.Agent({ keepAlive: false }),
      lookup: answering(addresses),
      signal,
    });
    request.setTimeout(idleMs, () => request.destroy(idle(idleMs)));
    request.on("socket", (socket) => {
      socket.once("connect", () => {
        const { remoteAddress = "", remoteFamily } = socket;
        const family = remoteFamily === "IPv6" ? "ipv6" : "ipv4";
        if (!judged.check(remoteAddress, family)) request.destroy(strayed(remoteAddress));
      });
    });
    request.on("response", resolve);
    request.on("error", reject);
    request.end(hop.body);
  });
}

/** A lookup that knows one answer: the addresses that were judged. */
function answering(addresses: readonly Address[]): LookupFunction {
  const first = must(addresses[0], "somebody checked that there is an address");
  return (_host, options, callback) => {
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address, family }) => ({
    address,
    family: family === 6 ? 6 : 4,
  }));

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const redirectOf = ({ statusCode = 0, headers }: IncomingMessage): string | undefined =>
  REDIRECTS.has(statusCode) ? headers.location : undefined;

function nextHop(
  hop: Hop,
  { location, status, rules }: { location: string; status: number; rules: NetRules },
): Hop | NetRefusal {
  const target = readTarget(location, { base: hop.url, rules });
  if (!target.ok) return target;
  const { url } = target;
  const reads = hop.method === "GET" || hop.method === "HEAD";
  const sameOrigin = url.origin === hop.url.origin;
  if (!reads && status !== 303 && !(sameOrigin && (status === 307 || status === 308))) {
    return netRefusal(
      "redirect_refused",
      `a ${hop.method} is redirected to \`${url.origin}\` (give the final URL)`,
    );
  }
  const asGet = !reads && status === 303;
  const kept = Object.entries(hop.headers).filter(([name]) => sameOrigin || HARMLESS.has(name));
  const lost = kept.length < Object.keys(hop.headers).length;
  if (lost && hop.url.protocol === "https:" && url.protocol === "http:") {
    const message = `a request with credentials is redirected from https to \`${url.origin}\``;
    return netRefusal("redirect_refused", message);
  }
  const headers = Object.fromEntries(asGet ? kept.filter(([name]) => name !== "content-type") : kept);
  return { url, method: asGet ? "GET" : hop.method, headers, body: asGet ? undefined : hop.body };
}

/** Looking up a name cannot be aborted, but nobody has to wait for it. */
function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason);
    if (signal.aborted) give();
    signal.addEventListener("abort", give, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", give));
  });
}

const idle = (idleMs: number): Fault =>
  new Fault("timeout", `nothing was sent for ${idleMs / 1000} s`, { retry: "unknown" });

const strayed = (to: string): Fault =>
  new Fault("address_refused", `the connection went to \`${to}\`, which was not judged`, { retry: "never" });

/** Where the connection was not even made, nothing can have been done. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** Whatever went wrong on the way, by name. Giving up is passed on as it is. */
function faultOf(
  error: unknown,
  { host, signal, givenUp }: { host: string; signal: AbortSignal; givenUp: AbortSignal },
): unknown {
  if (givenUp.aborted || error instanceof Fault) return error;
  if (signal.aborted)
    return new Fault("timeout", `\`${host}\` did not answer in time`, { retry: "unknown", cause: error });
  const message = error instanceof Error ? error.message || error.name : String(error);
  const retry = NEVER_SENT.has((error as NodeJS.ErrnoException).code ?? "") ? "later" : "unknown";
  return new Fault("network", `\`${host}\` cannot be reached: ${message}`, { retry, cause: error });
}
