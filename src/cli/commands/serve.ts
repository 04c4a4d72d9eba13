// `packloop serve`: the HTTP API over one store.

import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Logger } from "pino";
import { Fault } from "../../engine/ports.ts";
import { systemClock } from "../../engine/system-clock.ts";
import { type CardKey, readCardKey } from "../../server/a2a/card-key.ts";
import { PackloopServer } from "../../server/server.ts";
import { TokenFile } from "../../server/tokens.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { write } from "../output.ts";
import { packageVersion } from "../package-version.ts";
import { duration } from "../runs/duration.ts";
import { openWorlds } from "../runs/open-engine.ts";
import { openInBrowser } from "../runs/open-in-browser.ts";
import { loadPacks, openBeside, serverLog } from "../runs/open-server.ts";
import { chosenStore, isDatabase, shownStore } from "../runs/open-store.ts";
import { runConfigFor, stopAt } from "../runs/start-terms.ts";
import { announceServer } from "../runs/store-owner.ts";
import { openTelemetry } from "../runs/telemetry.ts";
import { tokenFileOf } from "../runs/token-file.ts";
import { webhookPost } from "../runs/webhook-post.ts";

export interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly store?: string;
  readonly config?: string;
  readonly model?: string;
  readonly tokenFile?: string;
  readonly requireToken?: true;
  readonly allowHost: readonly string[];
  readonly publicUrl?: string;
  readonly webhookAllow: readonly string[];
  readonly rate: number;
  readonly a2aCompat?: true;
  readonly a2aKey?: string;
  readonly grace: number;
  readonly logLevel: string;
  readonly open?: true;
  /** False for `--no-workers`. */
  readonly workers?: boolean;
  readonly readOnly?: true;
}

export function serveCommand(): Command {
  return new Command()
    .description("Serve runs over HTTP: start them, follow them, talk to them. See docs/server.md.")
    .argument("[packs...]", "packs to register, so that runs can be started by their digest")
    .option(
      "--host <address>",
      "where to listen; beyond this machine every request needs a token",
      "127.0.0.1",
    )
    .option("--port <n>", "port to listen on; 0 picks a free one", portNumber, 7777)
    .option("--store <path|url>", "where runs are kept: a file (./.packloop/runs.db) or postgres://…")
    .option("--config <file>", "settings of runs started here, in place of ./packloop.yaml")
    .option("--model <name>", "the model, like anthropic/claude-sonnet-5")
    .option("--token-file <file>", "tokens that are let in (beside the store; see packloop token)")
    .option("--require-token", "ask for a token on this machine as well")
    .option(
      "--allow-host <name>",
      "a name this server is asked for by, beside addresses and localhost",
      (value, all: readonly string[]) => [...all, value],
      [],
    )
    .option("--public-url <url>", "where others find this server, when it is behind a proxy", publicUrl)
    .option(
      "--webhook-allow <host:port>",
      "a private address that webhooks may be sent to",
      (value, all: readonly string[]) => [...all, value],
      [],
    )
    .option("--rate <n>", "requests a second that each token or address may make", rateNumber, 1_000)
    .option("--open", "open the debugger in the browser")
    .option("--no-workers", "drive no runs: workers of the same PostgreSQL store do")
    .option("--read-only", "show runs that others drive; change nothing, drive nothing")
    .option("--a2a-compat", "agents speak A2A 0.3 over JSON-RPC as well")
    .option("--a2a-key <file>", "a private key (JWK or PEM) that signs the cards of agents")
    .option("--grace <time>", "how long tools may finish when it is stopped", duration, duration("10s"))
    .addOption(
      new Option("--log-level <level>", "what is logged on standard error")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("info"),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  packloop serve\n  packloop serve codegen.pack.yaml --port 8080 --store runs.db\n\nExit codes: 0 stopped by SIGINT or SIGTERM, 2 bad input, 3 the store failed, 6 locked",
    )
    .action(async (packs: readonly string[], flags: ServeFlags) => {
      process.exitCode = await serve(packs, flags, flags.open === true ? openInBrowser : undefined);
    });
}

/** Serves until it is told to stop; `begun` hears where. */
export async function serve(
  packs: readonly string[],
  flags: ServeFlags,
  begun: (url: string) => void = () => undefined,
): Promise<number> {
  if (flags.workers === false && !isDatabase(chosenStore(flags.store)))
    throw usageError("`--no-workers` needs a PostgreSQL store: nobody else can drive the runs of a file");
  const config = runConfigFor(join(".", "pack"), flags);
  const worlds = openWorlds({ store: flags.store });
  stopAt(worlds.world(config.settings).problems, config.file);
  const programs = await loadPacks(packs);
  const tokenNeeded = flags.requireToken === true || !isLoopback(flags.host);
  const tokens = new TokenFile(tokenFileOf(flags));
  if (tokenNeeded && tokens.size === 0)
    throw usageError(`\`${flags.host}\` needs a token, and there is none (see packloop token create)`);
  const log = serverLog(flags.logLevel, worlds);
  const options = {
    ...{ worlds, log, tokenNeeded, tokens },
    clock: systemClock(),
    settings: config.settings,
    version: packageVersion(),
    host: flags.host,
    port: flags.port,
    hosts: [...flags.allowHost, ...(isIP(flags.host) === 0 ? [flags.host] : [])],
    ...(flags.publicUrl !== undefined && { publicUrl: flags.publicUrl }),
    rate: { perSecond: flags.rate, burst: flags.rate * 5 },
    principalOf: (token: string) => tokens.principalOf(token),
    post: webhookPost(flags.webhookAllow),
    a2aCompat: flags.a2aCompat === true,
    ...(flags.a2aKey !== undefined && { a2aKey: cardKeyIn(flags.a2aKey) }),
    idle: flags.workers === false,
    readOnly: flags.readOnly === true,
  };
  await using _telemetry = await openTelemetry(config.settings.telemetry);
  const { store, side } = await openBeside(flags.store, programs, options.clock.now(), options);
  const server = new PackloopServer({ ...options, store, side });
  try {
    const { host, port } = await server.start();
    const url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    // One that only shows owns nothing: commands have no use for it.
    if (!options.readOnly) announceServer(chosenStore(flags.store), reachable(host, port));
    write(`packloop serves ${shownStore(flags.store)} at ${url}\n`);
    log.info({ url }, "serving");
    begun(reachable(host, port));
    return await untilStopped(server, log);
  } finally {
    await server.stop(flags.grace);
  }
}

function cardKeyIn(file: string): CardKey {
  try {
    return readCardKey(readFileSync(file, "utf8"));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!(error instanceof Fault) && !["ENOENT", "EACCES", "EISDIR"].includes(code)) throw error;
    const why = error instanceof Fault ? error.message : `it cannot be read (${code})`;
    throw usageError(`\`--a2a-key ${file}\` signs no cards: ${why}`);
  }
}

/** From this machine. */
function reachable(host: string, port: number): string {
  const here = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${isIP(here) === 6 ? `[${here}]` : here}:${port}`;
}

/** The first signal stops it within the grace; the second leaves at once, which is as safe as a kill. */
async function untilStopped(server: PackloopServer, log: Logger): Promise<number> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const asked = new Promise<NodeJS.Signals>((resolve) => {
    let isSecond = false;
    for (const signal of signals)
      process.on(signal, () => {
        if (isSecond) process.exit(exits.interrupted);
        isSecond = true;
        resolve(signal);
      });
  });
  const why = await Promise.race([asked, server.broken]);
  if (typeof why === "string") {
    log.info({ signal: why }, "stopping");
    return exits.ok;
  }
  throw new ExitError(why instanceof Error ? why.message : String(why), exits.defect);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Without a slash at its end: paths follow. */
function publicUrl(value: string): string {
  const url = URL.parse(value);
  const isPlain = url !== null && url.username === "" && url.search === "" && url.hash === "";
  if (isPlain && ["http:", "https:"].includes(url.protocol)) return url.href.replace(/\/+$/, "");
  throw new InvalidArgumentError(`\`${value}\` is not an address like https://packs.example.org`);
}

function rateNumber(value: string): number {
  if (/^[1-9]\d{0,6}$/.test(value)) return Number(value);
  throw new InvalidArgumentError(`\`${value}\` is not a number of requests`);
}

function portNumber(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  throw new InvalidArgumentError(`\`${value}\` is not a port`);
}
