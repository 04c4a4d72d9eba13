// `packloop token`: who may speak to a server. A token is shown once; only its hash is kept.

import { Command, InvalidArgumentError } from "commander";
import { isoTime } from "../../base/iso-time.ts";
import { suggest } from "../../base/suggest.ts";
import { SCOPES, type Scope } from "../../server/scope.ts";
import { keptToken, newToken, readTokens, TOKEN_NAME, writeTokens } from "../../server/tokens.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { note, write } from "../output.ts";
import { makeFolders } from "../runs/store-path.ts";
import { tokenFileOf } from "../runs/token-file.ts";

interface Flags {
  readonly tokenFile?: string;
  readonly store?: string;
  readonly json?: true;
}

export function tokenCommand(): Command {
  const command = new Command()
    .description("Make, list and revoke the tokens of a server. A running server notices at once.")
    .addHelpText(
      "after",
      `\nScopes: ${SCOPES.join(", ")}\n\nExamples:\n  packloop token create ci --scope runs:read,runs:write\n  packloop token revoke ci\n\nExit codes: 0 done, 2 bad input, 5 no such token`,
    );
  const sub = (name: string, text: string) =>
    command
      .command(name)
      .description(text)
      .option("--token-file <file>", "the file of tokens (beside the store)")
      .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
      .option("--json", "print as JSON");
  sub("create", "make a token and show it once")
    .argument("<name>", "what it is called in journals and lists")
    .requiredOption("--scope <scopes>", "what it may do, with commas between", scopes)
    .action((name: string, flags: Flags & { scope: readonly Scope[] }) => create(name, flags));
  sub("list", "list tokens, never the tokens themselves").action((flags: Flags) => list(flags));
  sub("revoke", "let a token in no more")
    .argument("<name>", "the token")
    .action((name: string, flags: Flags) => revoke(name, flags));
  return command;
}

function create(name: string, flags: Flags & { scope: readonly Scope[] }): void {
  if (!TOKEN_NAME.test(name))
    throw usageError(`\`${name}\` is not a name for a token (letters, digits, and . _ - @)`);
  const file = tokenFileOf(flags);
  const tokens = readTokens(file);
  if (tokens.some((one) => one.name === name))
    throw usageError(`there is a token \`${name}\` already (revoke it, or choose another name)`);
  const token = newToken();
  makeFolders(file);
  writeTokens(file, [...tokens, keptToken(name, token, flags.scope, isoTime(Date.now()))]);
  if (flags.json === true) write(`${JSON.stringify({ name, scopes: flags.scope, token })}\n`);
  else write(`${token}\n`);
  note(`keep it: only its hash is stored, in ${file}`);
}

function list(flags: Flags): void {
  const tokens = readTokens(tokenFileOf(flags)).map(({ name, scopes: allowed, created_at }) => ({
    name,
    scopes: allowed,
    created_at,
  }));
  if (flags.json === true) write(`${JSON.stringify(tokens, null, 2)}\n`);
  else if (tokens.length === 0) write("no tokens\n");
  else for (const one of tokens) write(`${one.name.padEnd(20)} ${one.created_at}  ${one.scopes.join(",")}\n`);
}

function revoke(name: string, flags: Flags): void {
  const file = tokenFileOf(flags);
  const tokens = readTokens(file);
  const left = tokens.filter((one) => one.name !== name);
  if (left.length === tokens.length)
    throw new ExitError(`there is no token \`${name}\` (see packloop token list)`, exits.notFound);
  writeTokens(file, left);
  if (flags.json === true) write(`${JSON.stringify({ revoked: name })}\n`);
  else write(`revoked ${name}\n`);
}

function scopes(text: string): readonly Scope[] {
  const all = text.split(",").map((one) => one.trim());
  for (const one of all) {
    if (SCOPES.includes(one as Scope)) continue;
    const meant = suggest(one, SCOPES);
    const hint = meant === undefined ? `one of ${SCOPES.join(", ")}` : `did you mean \`${meant}\`?`;
    throw new InvalidArgumentError(`\`${one}\` is not a scope (${hint})`);
  }
  return [...new Set(all)] as readonly Scope[];
}
