// `packloop doctor`: whether packloop can work here, and what to do where it cannot. It changes nothing.

import { styleText } from "node:util";
import { Command, InvalidArgumentError } from "commander";
import { Redaction } from "../../engine/redaction.ts";
import type { RunSettings } from "../../host/run-settings.ts";
import { secretNames } from "../../host/secret-names.ts";
import { type Checked, fail, ok } from "../doctor/checked.ts";
import { diskCheck } from "../doctor/disk-checks.ts";
import { portCheck, tokensCheck } from "../doctor/server-checks.ts";
import { lookAtSettings, providersCheck, sandboxCheck, toolsCheck } from "../doctor/settings-checks.ts";
import { storeChecks } from "../doctor/store-checks.ts";
import { exits } from "../exit.ts";
import { settingsPlace } from "../one-pack.ts";
import { useColor, write, writeText } from "../output.ts";
import { packageVersion } from "../package-version.ts";
import { chosenStore, isDatabase, localStorePath } from "../runs/open-store.ts";
import { announcedServer } from "../runs/store-owner.ts";
import { nearestFolder } from "../runs/store-path.ts";
import { tokenFileOf } from "../runs/token-file.ts";

interface Flags {
  readonly store?: string;
  readonly config?: string;
  readonly model?: string;
  readonly tokenFile?: string;
  readonly port?: number;
  /** False with --no-tools. */
  readonly tools: boolean;
  readonly json?: true;
}

const USUAL_PORT = 7777;
const NODE_MAJOR = 24;

export function doctorCommand(): Command {
  return new Command()
    .description(
      "Look whether packloop can work here, and say what to do where it cannot. See docs/doctor.md.",
    )
    .argument("[pack]", "a pack or a folder whose settings are looked at; this folder when left out")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db), or postgres://…")
    .option("--config <file>", "settings in place of the packloop.yaml beside the pack")
    .option("--model <name>", "the model, like anthropic/claude-sonnet-5")
    .option("--token-file <file>", "tokens of the server (beside the store)")
    .option("--port <n>", `port that packloop serve is to have (${USUAL_PORT})`, portNumber)
    .option("--no-tools", "do not start MCP servers or ask agents to compare them with their pins")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop doctor\n  packloop doctor codegen.pack.yaml --no-tools --json\n\nExit codes: 0 no check failed (there may be warnings), 1 a check failed, 2 bad input",
    )
    .action(async (pack: string | undefined, flags: Flags) => {
      process.exitCode = await examine(settingsPlace(pack), flags);
    });
}

async function examine(place: string, flags: Flags): Promise<number> {
  const look = lookAtSettings(place, flags);
  const redaction = redactionFor(look.settings, chosenStore(flags.store));
  const all: Checked[] = [];
  const say = (check: Checked) => {
    const clean = redaction.json(check);
    all.push(clean);
    if (flags.json !== true) writeText(checkText(clean));
  };
  say(nodeCheck());
  for await (const check of placeChecks(flags)) say(check);
  say(look.check);
  say(providersCheck(look.settings, env));
  say(await sandboxCheck(look.settings));
  if (flags.tools && look.isUsable) say(await toolsCheck(look.settings, env));
  say(tokensCheck(tokenFileOf(flags)));
  say(await portOf(flags));
  const failed = all.filter(({ status }) => status === "fail").length;
  if (flags.json === true) write(`${JSON.stringify({ ok: failed === 0, checks: all }, null, 2)}\n`);
  else write(`${summaryText(all)}\n`);
  return failed === 0 ? exits.ok : exits.findings;
}

const env = (name: string): string | undefined => process.env[name];

/** Whatever a check repeats of the world's words, no secret is in it. */
function redactionFor(settings: RunSettings, store: string): Redaction {
  const redaction = new Redaction();
  for (const name of [...secretNames(settings, env), "PACKLOOP_TOKEN"]) redaction.add(name, env(name) ?? "");
  const url = isDatabase(store) ? URL.parse(store) : null;
  for (const password of [url?.password, url?.searchParams.get("password")])
    redaction.add("PASSWORD", password ?? "");
  return redaction;
}

function nodeCheck(): Checked {
  const { node, sqlite = "" } = process.versions;
  const found = `Node ${node} with SQLite ${sqlite}, packloop ${packageVersion()}`;
  if (Number(node.split(".", 1)[0]) >= NODE_MAJOR) return ok("node", found);
  return fail("node", { found, remedy: `install Node ${NODE_MAJOR} or newer` });
}

/** Where runs are kept. */
async function* placeChecks(flags: Flags): AsyncGenerator<Checked> {
  const store = chosenStore(flags.store);
  if (!isDatabase(store)) return yield* storeChecks(store);
  yield* (await import("../doctor/database-checks.ts")).databaseChecks(store);
  // Workspaces are on this machine all the same.
  return yield diskCheck(nearestFolder(localStorePath(flags.store)));
}

function portOf({ port, store }: Flags): Promise<Checked> {
  const path = chosenStore(store);
  const isShared = isDatabase(path);
  const ours = isShared ? undefined : announcedServer(path);
  return portCheck({ port: port ?? USUAL_PORT, isAsked: port !== undefined, ours, isShared });
}

const COLORS = { ok: "green", warn: "yellow", fail: "red" } as const;
const MARGIN = " ".repeat(20);

function checkText({ name, status, found, details = [], remedy }: Checked): string {
  const word = status.padEnd(5);
  const shown = useColor("auto") ? styleText(COLORS[status], word, { validateStream: false }) : word;
  const more = [...details.map((line) => `- ${line}`), ...(remedy === undefined ? [] : [`→ ${remedy}`])];
  return [`${shown} ${name.padEnd(13)} ${found}`, ...more.map((line) => `${MARGIN}${line}`), ""].join("\n");
}

function summaryText(all: readonly Checked[]): string {
  const count = (status: Checked["status"]) => all.filter((one) => one.status === status).length;
  return `${all.length} checks: ${count("ok")} ok, ${count("warn")} warn, ${count("fail")} fail`;
}

function portNumber(value: string): number {
  if (/^[1-9]\d{0,4}$/.test(value) && Number(value) <= 65_535) return Number(value);
  throw new InvalidArgumentError(`\`${value}\` is not a port`);
}
