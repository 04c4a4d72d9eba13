// `packloop serve`: the HTTP API over one store.

import { isIP } from "node:net";
import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { type DestinationStream, type Logger, pino } from "pino";
import type { Store } from "../../engine/ports.ts";
import { systemClock } from "../../engine/system-clock.ts";
import type { RunWorlds } from "../../host/run-worlds.ts";
import { PackloopServer } from "../../server/server.ts";
import { SideFile } from "../../server/side-file.ts";
import { TokenFile } from "../../server/tokens.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { loadProgram } from "../load-pack.ts";
import { noteRaw, write } from "../output.ts";
import { packageVersion } from "../package-version.ts";
import { duration } from "../runs/duration.ts";
import { openWorlds } from "../runs/open-engine.ts";
import { chosenStore, openStore } from "../runs/open-store.ts";
import { announceServer } from "../runs/server-client.ts";
import { runConfigFor, stopAt } from "../runs/start-terms.ts";
import { tokenFileOf } from "../runs/token-file.ts";
import { webhookPost } from "../runs/webhook-post.ts";

interface Flags {
  readonly host: string;
  readonly port: number;
  readonly store?: string;
  readonly config?: string;
  readonly model?: string;
  readonly tokenFile?: string;
  readonly requireToken?: true;
  readonly allowHost: readonly string[];
  readonly webhookAllow: readonly string[];
  readonly grace: number;
  readonly logLevel: string;
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
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
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
    .option(
      "--webhook-allow <host:port>",
      "a private address that webhooks may be sent to",
      (value, all: readonly string[]) => [...all, value],
      [],
    )
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
    .action(async (packs: readonly string[], flags: Flags) => {
      process.exitCode = await serve(packs, flags);
    });
}

async function serve(packs: readonly string[], flags: Flags): Promise<number> {
  const config = runConfigFor(join(".", "pack"), flags);
  const worlds = openWorlds({ store: flags.store });
  stopAt(worlds.world(config.settings).problems, config.file);
  const programs = await Promise.all(packs.map(async (file) => ({ file, ...(await loadProgram(file)) })));
  const tokenNeeded = flags.requireToken === true || !isLoopback(flags.host);
  const tokens = new TokenFile(tokenFileOf(flags));
  if (tokenNeeded && tokens.size === 0)
    throw usageError(`\`${flags.host}\` needs a token, and there is none (see packloop token create)`);
  const log = logger(flags.logLevel, worlds);
  const options = {
    ...{ worlds, log, tokenNeeded },
    clock: systemClock(),
    settings: config.settings,
    version: packageVersion(),
    host: flags.host,
    port: flags.port,
    hosts: [...flags.allowHost, ...(isIP(flags.host) === 0 ? [flags.host] : [])],
    principalOf: (token: string) => tokens.principalOf(token),
    post: webhookPost(flags.webhookAllow),
  };
  const store = await openStore({ store: flags.store, readOnly: false, create: true });
  const side = await sideFile(store, `${chosenStore(flags.store)}-server`);
  for (const { file, digest, text: source, program } of programs)
    side.putPack({ digest, id: program.id, version: program.version, file, source, at: options.clock.now() });
  const server = new PackloopServer({ ...options, store, side });
  try {
    const { host, port } = await server.start();
    const url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    announceServer(flags.store, reachable(host, port));
    write(`packloop serves ${chosenStore(flags.store)} at ${url}\n`);
    log.info({ url }, "serving");
    return await untilStopped(server, log);
  } finally {
    await server.stop(flags.grace);
  }
}

/** The store is let go of where the server cannot begin. */
async function sideFile(store: Store, path: string): Promise<SideFile> {
  try {
    return new SideFile(path);
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
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

/** One JSON object a line, and no secret in any. */
function logger(level: string, { redaction }: RunWorlds): Logger {
  const destination: DestinationStream = { write: (line) => noteRaw(redaction.text(line)) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function portNumber(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  throw new InvalidArgumentError(`\`${value}\` is not a port`);
}
