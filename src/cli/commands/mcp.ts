// `packloop mcp`: runs as tools of an MCP server on standard streams.

import { join } from "node:path";
import { Command, Option } from "commander";
import { systemClock } from "../../engine/system-clock.ts";
import { somebodyHere } from "../../server/scope.ts";
import { PackloopServer } from "../../server/server.ts";
import { TokenFile } from "../../server/tokens.ts";
import { ExitError, exits } from "../exit.ts";
import { note } from "../output.ts";
import { packageVersion } from "../package-version.ts";
import { duration } from "../runs/duration.ts";
import { relayMcp } from "../runs/mcp-relay.ts";
import { openWorlds } from "../runs/open-engine.ts";
import { loadPacks, openBeside, serverLog } from "../runs/open-server.ts";
import { runningServer, type ServerClient } from "../runs/server-client.ts";
import { runConfigFor, stopAt } from "../runs/start-terms.ts";
import { openTelemetry } from "../runs/telemetry.ts";
import { tokenFileOf } from "../runs/token-file.ts";
import { webhookPost } from "../runs/webhook-post.ts";

interface Flags {
  readonly store?: string;
  readonly config?: string;
  readonly model?: string;
  readonly grace: number;
  readonly logLevel: string;
}

const REGISTER = `
Register it with a client by its command. In a file of MCP servers:
  { "mcpServers": { "packloop": { "command": "packloop",
    "args": ["mcp", "/path/to/codegen.pack.yaml", "--store", "/path/to/runs.db"] } } }

Where packloop serve holds the store, its runs are used through the server (with the token in PACKLOOP_TOKEN).

Examples:
  packloop mcp
  packloop mcp codegen.pack.yaml --store runs.db --model anthropic/claude-sonnet-5

Exit codes: 0 the client has gone, 2 bad input, 3 the store failed, 6 locked`;

export function mcpCommand(): Command {
  return new Command()
    .description("Offer runs, and the agents of packs, as tools of an MCP server on standard streams.")
    .argument("[packs...]", "packs whose agents become tools")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--config <file>", "settings of runs started here, in place of ./packloop.yaml")
    .option("--model <name>", "the model, like anthropic/claude-sonnet-5")
    .option("--grace <time>", "how long tools may finish when the client goes", duration, duration("1s"))
    .addOption(
      new Option("--log-level <level>", "what is logged on standard error")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("warn"),
    )
    .addHelpText("after", REGISTER)
    .action(async (packs: readonly string[], flags: Flags) => {
      process.exitCode = await serveMcp(packs, flags);
    });
}

async function serveMcp(files: readonly string[], flags: Flags): Promise<number> {
  const running = await runningServer(flags.store);
  if (running === undefined) return await serveStore(files, flags);
  await register(running, files);
  if (flags.logLevel !== "silent") note(`packloop mcp talks to the server at ${running.url}`);
  await relayMcp(running.url, process.env["PACKLOOP_TOKEN"]);
  return exits.ok;
}

async function register(server: ServerClient, files: readonly string[]): Promise<void> {
  for (const { file, text } of await loadPacks(files))
    await server.post("/api/packs", { source: text, file });
}

async function serveStore(files: readonly string[], flags: Flags): Promise<number> {
  const config = runConfigFor(join(".", "pack"), flags);
  const worlds = openWorlds({ store: flags.store });
  stopAt(worlds.world(config.settings).problems, config.file);
  const packs = await loadPacks(files);
  const clock = systemClock();
  const log = serverLog(flags.logLevel, worlds);
  await using _telemetry = await openTelemetry(config.settings.telemetry);
  const { store, side } = await openBeside(flags.store, packs, clock.now());
  const server = new PackloopServer({
    ...{ store, side, worlds, clock, log },
    settings: config.settings,
    version: packageVersion(),
    host: "127.0.0.1",
    port: 0,
    // Nobody comes in by HTTP.
    tokenNeeded: true,
    tokens: new TokenFile(tokenFileOf(flags)),
    principalOf: () => undefined,
    post: webhookPost([]),
  });
  try {
    const parts = await server.startUnheard();
    const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
    const { runServer } = await import("../../server/mcp/run-server.ts");
    const { runCatalogue: catalogue } = await import("../../server/mcp/catalogue.ts");
    const served = serveStdio(({ era }) => runServer({ parts, principal: somebodyHere, catalogue, era }), {
      onerror: (error) => log.debug({ err: error }, "an MCP message was refused"),
    });
    const why = await Promise.race([clientGone(), server.broken]);
    await served.close();
    if (why === undefined) return exits.ok;
    throw new ExitError(why instanceof Error ? why.message : String(why), exits.defect);
  } finally {
    await server.stop(flags.grace);
  }
}

/** Its end of the pipe is closed, or it says so with a signal. */
function clientGone(): Promise<undefined> {
  return new Promise((resolve) => {
    const gone = () => resolve(undefined);
    process.stdin.once("end", gone).once("close", gone);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, gone);
  });
}
